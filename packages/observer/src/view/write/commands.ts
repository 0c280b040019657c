import { suggest } from '@meup/folds'
import type { Detail } from '@meup/protocol'
import { Kind } from '@meup/protocol'
import { unknownName } from '../../model/index.js'
import type { SpaceActions } from '../shared/use-space.js'

/** Everything that commands of the message box act on. */
interface CommandTarget {
  readonly space: SpaceActions
  /** Interrupts the runs that answer this reader. */
  stop(): void
  sendPrivately(to: string, message: string): void
  setLevel(level: string): void
  help(): void
}

export interface Command {
  readonly name: string
  readonly takes: string
  readonly about: string
  /** Returns an error message if the argument is invalid. */
  run(argument: string, target: CommandTarget): unknown
}

const details: readonly Detail[] = ['full', 'boundaries', 'none']
const levels: readonly string[] = ['off', 'low', 'high', 'auto']

/** Calls `act` with the participants named in the argument, with or without `@`. Returns an error message if one is unknown. */
function withNamed(
  argument: string,
  { session }: SpaceActions,
  act: (ids: readonly [string, ...string[]]) => void,
): string | undefined {
  const [first, ...others] = argument
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((word) => word.replace(/^@/, ''))
  if (first === undefined) return 'Say whom, as in @coder.'
  const unknown = [first, ...others].find((id) => !session.model.people.some((each) => each.id === id))
  if (unknown !== undefined)
    return unknownName(
      unknown,
      session.model.people.map(({ id }) => id),
    )
  act([first, ...others])
  return undefined
}

/** Hides the thoughts of a participant's latest run from everyone, or shows them again. */
const turnVisibility =
  (isVisible: boolean): Command['run'] =>
  (argument, { space }) =>
    withNamed(argument, space, ([id]) => {
      const run = space.session.model.runs().findLast(({ owner }) => owner === id)
      space.act('The run could not be changed', async () => {
        if (run === undefined) throw new Error(`${id} has no active run. Try again while it works.`)
        await space.session.client?.setVisibility(run.context, isVisible)
      })
    })

/** Commands of the message box, named like those of `meup join`. */
export const commands: readonly Command[] = [
  {
    name: 'pending',
    takes: '',
    about: 'what waits for a decision',
    run: (_, { space }) => space.showPanel({ at: 'inbox' }),
  },
  {
    name: 'interrupt',
    takes: '[@agent]',
    about: 'stops the runs that answer you, or those of an agent',
    run: (argument, { space, stop }) =>
      argument === ''
        ? stop()
        : withNamed(argument, space, ([id]) => {
            const runs = space.session.model.runs().filter(({ owner }) => owner === id)
            const contexts = runs.map(({ context }) => context)
            space.act('Not all runs could be interrupted', () => space.session.interrupt(contexts))
          }),
  },
  {
    name: 'msg',
    takes: '@name text',
    about: 'says it to one participant alone',
    run: (argument, { space, sendPrivately }) => {
      const [, name = '', message] = /^(\S+)\s+(.+)$/s.exec(argument) ?? []
      return message === undefined
        ? 'Say whom and what, as in /msg @coder Stop.'
        : withNamed(name, space, ([id]) => sendPrivately(id, message))
    },
  },
  {
    name: 'think',
    takes: 'off|low|high|auto',
    about: 'how much models think about what you say next',
    run: (argument, { setLevel }) =>
      levels.includes(argument)
        ? setLevel(argument === 'auto' ? '' : argument)
        : 'Say off, low, high or auto.',
  },
  {
    name: 'why',
    takes: '[#seq]',
    about: 'what led to the last answer, or to another line',
    run: (argument, { space }) => {
      const { log } = space.session.model
      const last = log.envelopes.findLast(
        ({ kind, correlationId }) => kind === Kind.chat && correlationId !== undefined,
      )
      const found = argument === '' ? last : log.at(Number(argument.replace('#', '')))
      if (found === undefined)
        return argument === '' ? 'There is no answer yet.' : `There is no ${argument} here.`
      return space.showPanel({ at: 'why', id: found.id })
    },
  },
  {
    name: 'pause',
    takes: '@name…',
    about: 'keeps them from acting until they are resumed',
    run: (argument, { space }) =>
      withNamed(argument, space, (ids) =>
        space.act('Not paused', async () => space.session.client?.pause(ids)),
      ),
  },
  {
    name: 'resume',
    takes: '@name…',
    about: 'lets them go on',
    run: (argument, { space }) =>
      withNamed(argument, space, (ids) =>
        space.act('Not resumed', async () => space.session.client?.resume(ids)),
      ),
  },
  {
    name: 'hide',
    takes: '@agent',
    about: 'hides its thoughts from everyone until its run ends',
    run: turnVisibility(false),
  },
  { name: 'show', takes: '@agent', about: 'shows them to everyone again', run: turnVisibility(true) },
  {
    name: 'thoughts',
    takes: 'full|boundaries|none',
    about: 'how much reasoning the gateway sends you',
    run: (argument, { space }) => {
      const detail = details.find((each) => each === argument)
      if (detail === undefined) return 'Say full, boundaries or none.'
      return space.act('The display could not be changed', () => space.session.setDetail(detail))
    },
  },
  {
    name: 'compact',
    takes: '@agent',
    about: 'has an agent put its memory into short notes',
    run: (argument, { space }) =>
      withNamed(argument, space, ([id]) =>
        space.act('Not compacted', async () => space.session.client?.requestCompact(id)),
      ),
  },
  {
    name: 'grant',
    takes: '@name',
    about: 'gives what you hold: opens the form',
    run: (argument, { space }) =>
      withNamed(argument, space, ([id]) => space.showPanel({ at: 'person', id, capability: '' })),
  },
  { name: 'help', takes: '', about: 'keys', run: (_, { help }) => help() },
]

export const findCommand = (name: string): Command | undefined => commands.find((each) => each.name === name)

export function describeUnknownCommand(name: string): string {
  const meant = suggest(
    name,
    commands.map((each) => each.name),
  )
  return `There is no /${name}.${meant === undefined ? '' : ` Did you mean /${meant}?`}`
}
