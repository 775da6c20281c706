import { base } from "boxwright-service/eslint";
import { defineConfig } from "eslint/config";

export default defineConfig(base, { ignores: ["client/dist"] });
