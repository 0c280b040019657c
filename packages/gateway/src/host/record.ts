import type { SpaceConfig } from '../core/config.js'

/** What `system.space configured` tells everyone: never tokens, environments, headers or commands [MEUP-3.6]. */
export function recordOf({
  participants,
  defaults,
  guest,
  limits,
  reasoning,
  mcp,
  retention,
}: SpaceConfig): Record<string, unknown> {
  return {
    participants: Object.fromEntries(
      Object.entries(participants).map(([id, { kind, capabilities }]) => [id, { kind, capabilities }]),
    ),
    defaults,
    ...(guest && { guest }),
    limits,
    reasoning,
    mcp,
    retention,
  }
}
