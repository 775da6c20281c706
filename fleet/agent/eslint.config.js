export { base as default } from "boxwright-service/eslint";
