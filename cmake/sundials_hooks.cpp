// The static libraries of the sundials4py wheel call these functions when they free an object, to release Python callbacks
// attached to it. agrad attaches none, so they have nothing to do.
extern "C" {
void SUNContextFunctionTable_Destroy(void*) {}
void SUNDomEigEstimatorFunctionTable_Destroy(void*) {}
void SUNLinearSolverFunctionTable_Destroy(void*) {}
void SUNLoggerFunctionTable_Destroy(void*) {}
void SUNNonlinearSolverFunctionTable_Destroy(void*) {}
void SUNStepperFunctionTable_Destroy(void*) {}
void arkode_user_supplied_fn_table_destroy(void*) {}
void cvode_user_supplied_fn_table_destroy(void*) {}
void idas_user_supplied_fn_table_destroy(void*) {}
void kinsol_user_supplied_fn_table_destroy(void*) {}
void mristepinnerstepper_user_supplied_fn_table_destroy(void*) {}
}
