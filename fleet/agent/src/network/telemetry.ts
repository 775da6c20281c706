/**
 * Turns off the telemetry of onnxruntime-node, unless the operator has set the variable. The telemetry would send data
 * to the maker of the runtime, and leave files in the current folder and the temporary one. Import this file before
 * onnxruntime-node, which reads the variable when it loads.
 */
process.env["ORT_DISABLE_TELEMETRY"] ??= "1";
