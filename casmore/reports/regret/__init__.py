"""The regret of samples on BBOB: what a typical evaluation costs, beside the best value so far."""
