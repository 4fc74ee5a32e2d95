"""Records functions: recorded arrays and trees of them, recordings, tapes, and the user's lines of code in messages."""
