// Property tests try the same cases for every mutant and in every run: a mutant that survives once survives again.
import fc from "fast-check";

fc.configureGlobal({ seed: 1 });
