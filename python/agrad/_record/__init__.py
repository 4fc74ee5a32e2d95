"""What records: recorded values put together and taken apart, recordings, tapes, and what messages say of lines of code."""
