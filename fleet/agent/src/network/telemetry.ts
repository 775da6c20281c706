/**
 * Turns off the telemetry of onnxruntime-node, unless the operator has set the variable. It would report to its maker,
 * and leave files in the current folder and the temporary one. Import this before onnxruntime-node, which reads the
 * variable when it loads.
 */
process.env["ORT_DISABLE_TELEMETRY"] ??= "1";
