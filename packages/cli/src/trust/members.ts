import { destination } from '../connection.js'
import { print, printJson, tell } from '../output.js'
import { readCapabilities } from './capabilities.js'
import { type GrantFlags, type ReasonFlags, termsOf } from './caps.js'
import { inside } from './inside.js'
import { endOf, spanOf } from './terms.js'

export interface SpanFlags extends ReasonFlags {
  readonly for?: string
}

/** `meup invite` */
export function inviteParticipant(id: string, words: readonly string[], flags: GrantFlags): Promise<void> {
  const capabilities = readCapabilities(words)
  const terms = termsOf(flags)
  const { url, space: name } = destination(flags)
  return inside(flags, async (space) => {
    const invitation = await space.invite(id, capabilities, terms)
    if (flags.json) return void printJson(invitation)
    if (invitation.token === undefined) return void tell(`${id} may come back, with the token that it has`)
    print(invitation.token)
    tell(
      `this token is shown once; ${id} enters with MEUP_TOKEN=<token> meup join --url ${url} --space ${name}`,
    )
  })
}

/** `meup kick` */
export function kickParticipant(id: string, { for: span, reason, ...flags }: SpanFlags): Promise<void> {
  const untilTs = endOf({ ...(span !== undefined && { for: span }) })
  return inside(flags, async (space) => {
    const kick = await space.kick(id, {
      ...(reason !== undefined && { reason }),
      ...(untilTs !== undefined && { untilTs }),
    })
    if (flags.json) return void printJson(kick)
    tell(`${id} is kept out until ${untilTs ?? 'it is invited again'}`)
  })
}

/** `meup pause` */
export function pauseParticipants(
  ids: readonly string[],
  { for: span, reason, ...flags }: SpanFlags,
): Promise<void> {
  const timeoutSeconds = span === undefined ? undefined : spanOf(span, '--for') / 1000
  return inside(flags, async (space) => {
    const terms = {
      ...(reason !== undefined && { reason }),
      ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    }
    const pause = await space.pause(ids, terms)
    if (flags.json) printJson(pause)
    else tell(`paused; meup resume ${ids.join(' ')} lets go on`)
  })
}

/** `meup resume` */
export function resumeParticipants(ids: readonly string[], { reason, ...flags }: ReasonFlags): Promise<void> {
  return inside(flags, async (space) => {
    const resumption = await space.resume(ids, reason)
    if (flags.json) printJson(resumption)
  })
}
