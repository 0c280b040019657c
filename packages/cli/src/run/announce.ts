import { setTimeout as delay } from 'node:timers/promises'
import { print, tell } from '../output.js'
import { ownCommand } from './own-command.js'
import type { RunningGateway } from './start-gateway.js'
import type { Member, RunningSpaces } from './up.js'

/** Says that the gateway can be reached, in lines for people or as an event on stdout. */
export function tellListening({ url, spaces }: RunningGateway, json: boolean): void {
  if (json) {
    event('listening', { url, spaces, pid: process.pid })
    return
  }
  tell(`listening on ${url} · ${spaces.length === 1 ? 'space' : 'spaces'} ${spaces.join(', ')}`)
  const meup = ownCommand(process.cwd(), process.env.PATH ?? '')
  const ways = [`${meup} join`, `see it: ${meup} open`, `watch it: ${meup} watch --from 1`]
  tell(`join it from this folder in another terminal: ${ways.join(' · ')}`)
}

/** Milliseconds between two looks at who has joined, and until those who have not are named. */
const [lookMs, lateMs] = [50, 10_000]

/** Says who is still starting, and when all are there. Rejects with what keeps one from starting. */
export async function tellStarting(
  { programs, started, isPresent }: RunningSpaces,
  { json, signal }: { readonly json: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const participants = namesOf(programs)
  const say = (name: string, text: string): void => {
    if (json) event(name, { participants })
    else if (participants.length > 0) tell(text)
  }
  say('starting', `starting ${list(participants)}`)
  await started
  if (signal.aborted) return
  if (json) event('started', { participants })
  const isMissing = ({ space, participant }: Member): boolean => !isPresent(space, participant)
  const began = Date.now()
  let missing = programs.filter(isMissing)
  while (missing.length > 0 && Date.now() - began < lateMs) {
    await delay(lookMs, undefined, { signal, ref: false }).catch(() => {})
    if (signal.aborted) return
    missing = missing.filter(isMissing)
  }
  if (missing.length === 0)
    say('ready', `${list(participants)} ${participants.length === 1 ? 'is' : 'are'} up`)
  else if (!json)
    tell(`${list(namesOf(missing))} ${missing.length === 1 ? 'has' : 'have'} not joined the space yet`)
}

const event = (name: string, fields: object): void => void print(JSON.stringify({ event: name, ...fields }))

const namesOf = (members: readonly Member[]): string[] => members.map(({ participant }) => participant)

const list = (names: readonly string[]): string => new Intl.ListFormat('en').format(names)
