/** Where the environment has traces sent to, by the variables of OpenTelemetry; `undefined` = nowhere. */
export function traceEndpoint(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { OTEL_SDK_DISABLED: disabled = '', OTEL_TRACES_EXPORTER: exporters = '' } = env
  const isOff = disabled.trim().toLowerCase() === 'true' || exporters.trim() === 'none'
  if (isOff) return undefined
  return env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT || undefined
}
