import { afterAll } from "vitest";
import { endFile } from "../kit/end-of-file.ts";

afterAll(endFile);
