import { type Capability, defaultLimits, type Limits, rateClasses } from '@meup/protocol'
import { defaultSafety } from '@meup/safety'
import type { SpaceConfig } from '../core/config.js'
import { tokenAuthenticator } from '../host/auth/token-authenticator.js'
import { createGateway, type Gateway, type GatewayOptions } from '../host/gateway.js'
import { memoryStore } from '../storage/memory-log.js'

export interface TestSpaceOptions {
  /** Participants and what each may do. */
  readonly participants: Readonly<Record<string, readonly Capability[]>>
  readonly name?: string
  /** Rates that are not given are out of the way. */
  readonly limits?: Partial<Omit<Limits, 'rates'>> & { readonly rates?: Partial<Limits['rates']> }
  readonly guest?: SpaceConfig['guest']
  readonly reasoning?: Partial<SpaceConfig['reasoning']>
  readonly safety?: Partial<SpaceConfig['safety']>
  readonly mcp?: SpaceConfig['mcp']
  /** Without it everything is kept. */
  readonly retention?: SpaceConfig['retention']
}

/** A space for tests. Rates are out of the way unless given. */
export function testSpaceConfig(options: TestSpaceOptions): SpaceConfig {
  const { name = 'test', participants, limits, guest, reasoning, safety, mcp, retention } = options
  const plenty = { perSecond: 1e9, burst: 1e9 }
  const rates = Object.fromEntries(rateClasses.map((each) => [each, plenty])) as Limits['rates']
  return {
    name,
    participants: Object.fromEntries(
      Object.entries(participants).map(([id, capabilities]) => [id, { kind: 'agent', capabilities }]),
    ),
    defaults: { capabilities: [] },
    ...(guest && { guest }),
    limits: { ...defaultLimits, ...limits, rates: { ...rates, ...limits?.rates } },
    reasoning: { collaborative: true, abandonAfterMs: 60_000, ...reasoning },
    safety: { ...defaultSafety, ...safety },
    mcp: mcp ?? { visibility: 'everyone' },
    retention: retention ?? { days: 0 },
  }
}

/** The token of every participant of a test space is `token-of-<participant>`. */
export const testToken = (participant: string): string => `token-of-${participant}`

/** A real gateway with one space on the memory log. */
export async function createTestGateway(
  options: TestSpaceOptions & Partial<Pick<GatewayOptions, 'store' | 'clock' | 'logger'>>,
): Promise<Gateway> {
  const config = testSpaceConfig(options)
  const tokens = Object.fromEntries(Object.keys(config.participants).map((id) => [id, testToken(id)]))
  return createGateway({
    spaces: [config],
    store: options.store ?? memoryStore(),
    authenticator: tokenAuthenticator({ [config.name]: tokens }),
    ...(options.clock && { clock: options.clock }),
    ...(options.logger && { logger: options.logger }),
  })
}
