export { base as default } from "./eslint.js";
