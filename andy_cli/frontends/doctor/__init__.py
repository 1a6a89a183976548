"""`andy doctor`: checks of the machine and of model servers, and what mends each."""
