import type { OpenRun, SpaceClient, ThinkingLevel } from '@meup/agent-sdk'
import type { HttpClient } from '@meup/agent-sdk/http'
import { thinkingLevels } from '@meup/agent-sdk/internal'
import { escapePattern, getAlwaysCapability, type ProposedRequest } from '@meup/agent-sdk/watch'
import {
  brief,
  capabilitySentence,
  defaultGuard,
  describeState,
  findCapabilityWarnings,
  formatCapabilities,
  getParameters,
  isObject,
  onOneLine,
  type ProposalView,
  quoteThought,
  reasoningCommand,
  redact,
  type StateText,
  type Style,
} from '@meup/folds'
import { expiry, terms } from '@meup/observer/model'
import {
  type AnyEnvelope,
  type Capability,
  type DecisionPayload,
  isThought,
  Kind,
  omitUndefined,
  type WelcomePayload,
} from '@meup/protocol'
import { parseCapabilities } from '../lib/capabilities.js'
import { type ConnectionFlags, createHttpClient, mustKnow } from '../lib/connection.js'
import { formatError, invalidValue, UsageError } from '../lib/exit.js'
import { FormFiller } from '../lib/fill-form.js'
import { findByPrefix } from '../lib/options.js'
import { formatTable, getStdoutStyle } from '../lib/output.js'
import { mayAllow } from '../lib/refusals.js'
import { parseExpiry, parseTimeSpan } from '../lib/times.js'
import { findLatestAnswerer, readRequestedTurns } from '../lib/turns.js'
import type { LineRenderer } from '../render/conversation.js'
import { truncate } from '../render/width.js'
import { readFilter, type View, type ViewFilter } from '../view/view.js'
import { explainAct } from '../why/explanation.js'
import { describeAct, findActs } from '../why/find-acts.js'
import { formatExplanation } from '../why/format-explanation.js'
import type { Interruptible, RunInterrupter } from './interruptions.js'
import type { LatestAnswers } from './latest-answers.js'
import type { LiveTurns } from './live-turns.js'
import {
  type AlwaysOptions,
  findDanger,
  type PendingProposals,
  ProposalDecider,
} from './pending-proposals.js'
import { type CommandName, helpLines } from './slash-commands.js'

/** Objects that slash commands use. */
interface CommandContext {
  readonly space: SpaceClient
  readonly flags: ConnectionFlags
  readonly view: View
  readonly live: LiveTurns
  readonly pending: PendingProposals
  readonly interrupting: RunInterrupter
  readonly answers: LatestAnswers
}

const masked = /\[(?:redacted|withheld)/

/** Runs slash commands. Rejects with messages that are shown to the user. */
export class CommandRunner {
  readonly #context: CommandContext
  readonly #http: HttpClient
  readonly #decisions: ProposalDecider

  constructor(context: CommandContext) {
    this.#context = context
    this.#http = createHttpClient(context.flags)
    const { space, view } = context
    const forms = new FormFiller(space, {
      print: (lines) => view.print(lines),
      prompt: (...asked) => view.prompt(...asked),
    })
    this.#decisions = new ProposalDecider({ space, http: this.#http, forms })
  }

  async runCommand(command: CommandName, argument: string): Promise<void> {
    const { space, view, live, pending } = this.#context
    const words = argument.split(/\s+/).filter((word) => word !== '')
    switch (command) {
      case '/reasoning':
        return view.print(await inspect(argument, this.#http, live, getStdoutStyle()))
      case '/why':
        return this.#explain(argument)
      case '/participants':
        return view.print(await this.#participants(argument))
      case '/replay':
        return view.print(await replayLines(argument, this.#http, view.past()))
      case '/filter':
        return this.#filter(words)
      case '/thoughts':
        return view.toggleThoughts()
      case '/output':
        return view.toggleOutput()
      case '/pending':
        return view.print(pending.lines())
      case '/approve':
        return this.#approve(words)
      case '/always':
        return this.#allowAlways(words)
      case '/think':
        return this.#think(words[0])
      case '/hide':
      case '/show':
        return this.#setVisibility(words[0], command === '/show')
      case '/ask':
        return this.#askAbout(argument)
      case '/reply':
        return this.#reply(argument)
      case '/reject':
        return this.#reject(words)
      case '/grant':
        return this.#grant(argument)
      case '/allow':
        return this.#allow(words[0])
      case '/interrupt':
        return this.interrupt(words[0])
      case '/pause':
        return this.#pause(words)
      case '/resume':
        await space.resume(this.#known(requireSome(words, '/resume <participant…>')))
        return
      case '/compact':
        return this.#compact(words[0])
      case '/copy':
        return view.notify(this.#copy(words))
      case '/msg':
        throw new UsageError('missing_argument', { form: '/msg <participant> <text>, which it alone reads' })
      case '/help':
        return view.print(helpLines())
    }
  }

  /** Copies the latest answer, or a code block of it; returns the message for the user. */
  #copy([what, number]: readonly string[]): string {
    const { answers, view } = this.#context
    if (answers.text === undefined) return 'no other participant has said anything yet'
    if (what !== undefined && what !== 'code')
      throw new UsageError('missing_argument', { form: '/copy, or /copy code [number]' })
    const blocks = answers.codeBlocks
    const text = what === undefined ? answers.text : blocks.at(number === undefined ? -1 : Number(number) - 1)
    if (text === undefined)
      return blocks.length === 0 ? 'it has no block of code' : `it has ${blocks.length} blocks of code`
    if (text.length > maxCopyChars)
      return `it is longer than ${maxCopyChars} characters; meup watch --json has it`
    view.copy(text)
    return `✓ ${text.length.toLocaleString('en')} characters are copied, if your terminal allows it`
  }

  /** Explains a tool call, a decision or an answer; asks the user to choose if the reference is ambiguous. */
  async #explain(ref: string): Promise<void> {
    const { view } = this.#context
    const acts = await findActs(this.#http, ref)
    const isClear = acts.length === 1 || view.lines === undefined
    const at = isClear ? 0 : await view.ask('why which of these?', acts.map(describeAct))
    const act = at === undefined ? undefined : acts[at]
    if (act !== undefined) view.print(formatExplanation(await explainAct(this.#http, act), this.#http))
  }

  /** Lists the participants from the HTTP API: the connection does not receive all pauses if it may not read all envelopes. */
  async #participants(start: string): Promise<string[]> {
    const { space } = this.#context
    const { participants } = await this.#http.readParticipants()
    return participantLines({ participants, runs: space.runs, now: space.gatewayTime() }, start)
  }

  /** Interrupts the run or answer for this participant, or the one at position `number`, from 1. */
  async interrupt(number?: string): Promise<void> {
    const { view, interrupting } = this.#context
    const { works, areMine } = interrupting.choices()
    if (works.length === 0) return view.notify(interrupting.describeNone())
    const latest = works.slice(-9)
    const at = await this.#choice(number, latest, areMine)
    const work = at === undefined ? undefined : latest[at]
    if (work !== undefined) view.notify(await interrupting.stop(work))
  }

  /**
   * Returns the index of the run to interrupt. Asks the user, unless a number is given or a single run answers this
   * participant.
   */
  async #choice(
    number: string | undefined,
    works: readonly Interruptible[],
    areMine: boolean,
  ): Promise<number | undefined> {
    if (number !== undefined) {
      const at = Number(number) - 1
      if (works[at] === undefined)
        throw new UsageError('invalid_number', { option: '/interrupt', maximum: works.length, value: number })
      return at
    }
    if (areMine && works.length === 1) return 0
    return this.#askWhich(
      areMine ? 'interrupt which?' : 'no agent answers you at present; interrupt which?',
      works,
    )
  }

  /** Asks the user to choose a run or answer, until all of them have ended. `undefined` also if the chosen one has ended. */
  async #askWhich(question: string, works: readonly Interruptible[]): Promise<number | undefined> {
    const { space, view, interrupting } = this.#context
    const over = new AbortController()
    const check = (): void => {
      if (!works.some((work) => interrupting.isOpen(work))) over.abort()
    }
    space.on('envelope', check)
    try {
      const at = await view.ask(question, interrupting.labels(works), over.signal)
      const chosen = at === undefined ? undefined : works[at]
      const isOver = over.signal.aborted || (chosen !== undefined && !interrupting.isOpen(chosen))
      if (!isOver) return at
      view.notify('it has ended in the meantime')
      return undefined
    } finally {
      space.off('envelope', check)
    }
  }

  async #filter(words: readonly string[]): Promise<void> {
    const { view } = this.#context
    const isOff = words.length === 1 && words[0] === 'off'
    const asked = isOff ? [] : words
    const filter = words.length === 0 && view.filter !== undefined ? view.filter : parseFilter(asked)
    const welcome = await view.choose(filter)
    const shown = filter.name === undefined ? 'you see everything' : `you see ${filter.name} alone`
    view.notify(`${shown} · ${formatSuppressed(welcome)}`)
  }

  async #approve([start = '', ...more]: readonly string[]): Promise<void> {
    if (start === '' || more.length > 0)
      throw new UsageError('missing_argument', { form: '/approve <proposal>; /pending lists them' })
    const { view, pending } = this.#context
    const proposal = findByPrefix(pending.list(), start, 'proposal')
    if (proposal !== undefined && !pending.isShown(proposal.id)) return view.notify(notShown)
    // If the proposal is no longer open, the message names its decider.
    view.notify(await this.#decisions.approve(proposal?.id ?? start, pending))
  }

  /** Whether `y` and `n` are decisions: a proposal is open, or was when the user began the line. */
  get isDeciding(): boolean {
    const { view, pending } = this.#context
    return pending.offer() !== undefined || pending.endedAt >= (view.typedSince ?? Date.now())
  }

  /** Decides the proposal that the last printed line names: `y` approves, `n` rejects and asks for a reason. */
  async decide(word: 'y' | 'n'): Promise<void> {
    const { view, pending } = this.#context
    const offer = pending.offer()
    if (offer === undefined) return view.notify('it was decided in the meantime, or has expired')
    const { proposal, since } = offer
    if (since === undefined) return view.notify(notShown)
    if (since > (view.typedSince ?? Date.now()))
      return view.notify('this one came while you typed: look at it, then y or n')
    if (word === 'y') {
      const danger = findDanger(proposal)
      const isMeant =
        danger === undefined ||
        (await view.prompt(`${danger} · yes approves it · Esc: back`))?.trim() === 'yes'
      return view.notify(isMeant ? await this.#decisions.approve(proposal.id, pending) : 'not approved')
    }
    const why = await view.prompt('why not? for everyone to read · Enter: no reason · Esc: back')
    if (why !== undefined) view.notify(await this.#decisions.reject(proposal.id, why.trim()))
  }

  /** `/always [proposal] [name=value…] [for:1h]`; asks for the terms if none are given. */
  async #allowAlways(words: readonly string[]): Promise<void> {
    const { view, pending } = this.#context
    const form = '/always <proposal> [name=value…] [for:1h]'
    const isNamed = /^(?!for:)[^=]+$/.test(words[0] ?? '')
    const [start, given] = isNamed ? [words[0], words.slice(1)] : [undefined, words]
    const offer = pending.offer()
    const proposal = start === undefined ? offer?.proposal : findByPrefix(pending.list(), start, 'proposal')
    if (proposal === undefined) {
      if (pending.list().length === 0) return view.print(pending.lines())
      throw new UsageError('missing_argument', { form: `${form}; /pending lists them` })
    }
    if (!pending.isShown(proposal.id)) return view.notify(notShown)
    if (given.length === 0 && view.lines === undefined) throw new UsageError('missing_argument', { form })
    const args = getParameters(pending.request(proposal.id)?.payload ?? {})
    const options = given.length > 0 ? readTerms(given, args) : await this.#askProposalTerms(proposal)
    if (options !== undefined) view.notify(await this.#decisions.allowAlways(proposal.id, options))
  }

  #askProposalTerms({ id, source }: ProposalView): Promise<AlwaysOptions | undefined> {
    const { view, pending } = this.#context
    const { to, payload } = pending.request(id) ?? { payload: {} }
    const capability = getAlwaysCapability({ ...(payload as unknown as ProposedRequest), to })
    if (capability !== undefined) return this.#askTerms(source.from, capability, getParameters(payload))
    view.notify('this names no tool of a participant: approve it alone')
    return Promise.resolve(undefined)
  }

  /** Asks which arguments to allow, narrowest choice first, and until when; `undefined` if the user cancels. */
  async #askTerms(
    recipient: string,
    capability: Capability,
    args: unknown,
  ): Promise<AlwaysOptions | undefined> {
    const { view } = this.#context
    const { value } = redact(args, defaultGuard)
    const shown = isObject(value) ? value : {}
    const values = Object.entries(isObject(args) ? args : {}).filter(
      // Leaves out masked and truncated values, which cannot be compared with values of later calls.
      (entry): entry is [string, string | number | boolean] =>
        ['string', 'number', 'boolean'].includes(typeof entry[1]) && shown[entry[0]] === entry[1],
    )
    const ways = [
      ...values.map(([name, value]) => `only where ${name} is ${brief(String(value), 60)}`),
      'with any arguments',
    ]
    const way = await view.ask(`${recipient} may ${capabilitySentence(capability)} without asking:`, ways)
    if (way === undefined) return undefined
    const until = await view.ask(
      'until when?',
      terms.map(([, text]) => text),
    )
    const [minutes] = until === undefined ? [] : (terms[until] ?? [])
    if (minutes === undefined) return undefined
    const [name, chosen] = values[way] ?? []
    const pattern = typeof chosen === 'string' ? escapePattern(chosen) : chosen
    const narrowed = name === undefined || pattern === undefined ? {} : { arguments: { [name]: pattern } }
    return { ...narrowed, ...expiry(minutes, Date.now()) }
  }

  /** How much models are to think about this participant's messages; `undefined` = each model's default. */
  thinkingLevel: ThinkingLevel | undefined

  #think(word: string | undefined): void {
    const level = thinkingLevels.find((each) => each === word)
    if (level === undefined && word !== 'auto')
      throw new UsageError('missing_argument', { form: '/think off|low|high|auto' })
    this.thinkingLevel = level
    this.#context.view.notify(
      level === undefined ? 'models think as they are set' : `models are asked to think: ${level}`,
    )
  }

  /** Hides the thoughts of a run from everyone, or shows them again. */
  async #setVisibility(named: string | undefined, isShown: boolean): Promise<void> {
    const { space, view } = this.#context
    const owner = named?.replace(/^@/, '')
    if (owner !== undefined) this.#known([owner])
    const runs = space.runs.filter((run) => owner === undefined || run.owner === owner).slice(-9)
    if (runs.length === 0) return view.notify('no agent thinks at present')
    const question = `${isShown ? 'show' : 'hide'} the thoughts of which run, for everyone?`
    // If the user cannot be asked to choose, takes the latest run of the named agent.
    const isNamed = view.lines === undefined && owner !== undefined
    const at = isNamed ? runs.length - 1 : await this.#askWhich(question, runs.map(toWork))
    const run = at === undefined ? undefined : runs[at]
    if (run !== undefined) await space.setVisibility(run.context, isShown)
  }

  /** Asks the agent about a thought, in a separate run. */
  async #askAbout(argument: string): Promise<void> {
    const [, ref = '', text = ''] = /^(#\d+)\s+([\s\S]*)$/.exec(argument) ?? []
    if (text.trim() === '')
      throw new UsageError('missing_argument', { form: '/ask #<seq of a thought> <question>' })
    const thought = await this.#http.readEnvelope(ref)
    if (!isThought(thought.kind)) throw new UsageError('not_a_thought', { ref })
    const { id: correlationId, from: mention } = thought
    const about = { mention, correlationId, format: 'markdown' } as const
    await this.#context.space.chat(quoteThought(thought, text.trim()), about)
  }

  /** Contributes a thought to a run, in reply to the run's latest thought. */
  async #reply(argument: string): Promise<void> {
    const { space, view, interrupting } = this.#context
    const [, owner, text = ''] = /^(?:@(\S+)\s+)?([\s\S]*)$/.exec(argument) ?? []
    if (text.trim() === '') throw new UsageError('missing_argument', { form: '/reply [@agent] <text>' })
    if (owner !== undefined) this.#known([owner])
    const runs = space.runs.filter((run) => owner === undefined || run.owner === owner).slice(-9)
    if (runs.length === 0) return view.notify('no agent thinks at present')
    const isClear = runs.length === 1 || view.lines === undefined
    const at = isClear ? runs.length - 1 : await this.#askWhich('reply to which?', runs.map(toWork))
    const run = at === undefined ? undefined : runs[at]
    if (run === undefined) return
    const to = interrupting.latestThought(run.context)
    await space.contribute(run.context, text.trim(), to === undefined ? {} : { to })
  }

  /** Not awaited, so that other commands can run: the agent's model may take a while. */
  async #compact(named: string | undefined): Promise<void> {
    const { space, view } = this.#context
    const agent = named?.replace(/^@/, '') ?? (await findLatestAnswerer(this.#http))
    if (agent === undefined) throw new UsageError('unnamed_agent', { option: '/compact @agent' })
    this.#known([agent])
    // The conversation shows the request and its result anyway, so only a failure is reported here.
    space.requestCompact(agent, { timeoutMs: compactMs }).catch((error: unknown) => {
      if (space.ended === undefined) view.notify(`✗ ${formatError(error)}`)
    })
  }

  /** Throws `Failure` for an unknown name. */
  #known(names: readonly string[]): readonly string[] {
    mustKnow(this.#context.space, names)
    return names
  }

  async #reject([start = '', ...why]: readonly string[]): Promise<void> {
    if (start === '')
      throw new UsageError('missing_argument', { form: '/reject <proposal> [why]; /pending lists them' })
    this.#context.view.notify(await this.#decisions.reject(start, why.join(' ')))
  }

  /**
   * Grants the capability that a refused call lacked: the call refused with this seq, or the last one for which this
   * participant may grant it.
   */
  async #allow(number: string | undefined): Promise<void> {
    const { space, view } = this.#context
    if (number !== undefined && !/^#?\d{1,15}$/.test(number))
      throw new UsageError('missing_argument', { form: '/allow [refusal], with its number in the log' })
    if (view.lines === undefined)
      throw new UsageError('no_terminal', { command: '/allow', instead: '/grant' })
    const seq = Number(number?.replace('#', ''))
    const place = number === undefined ? {} : { after: seq - 1, before: seq + 1 }
    const query = { ...place, kind: [Kind.systemDecision], order: 'desc', limit: 100 } as const
    const { envelopes } = await this.#http.readLogPage(query)
    const refusal = envelopes.find((each) => mayAllow(space, each))
    const { missing, attemptedArguments } = (refusal?.payload ?? {}) as Partial<DecisionPayload>
    const [recipient] = refusal?.to ?? []
    if (recipient === undefined || missing === undefined) {
      return view.notify(
        number === undefined
          ? 'nothing was refused that you may allow'
          : `#${seq} is not a refusal that you may allow`,
      )
    }
    // A masked value matches no later call, so it is omitted.
    const args = Object.entries(isObject(attemptedArguments) ? attemptedArguments : {}).filter(
      ([, value]) => typeof value === 'string' && !masked.test(value),
    )
    const isTool = typeof missing === 'object' && 'tool' in missing
    const options = await this.#askTerms(recipient, missing, isTool ? Object.fromEntries(args) : {})
    if (options === undefined) return
    const { arguments: narrowed, ...terms } = options
    const capability = isTool && narrowed !== undefined ? { ...missing, arguments: narrowed } : missing
    const { id } = await space.grant(recipient, [capability], terms)
    view.notify(`✓ ${recipient} may ${capabilitySentence(capability)} (grant ${id})`)
  }

  async #grant(argument: string): Promise<void> {
    // A capability written as JSON or YAML may contain spaces.
    const words: string[] = argument.match(/\{.*\}|\S+/g) ?? []
    const span = words.find((word) => /^for:/.test(word))?.slice('for:'.length)
    const [recipient = '', ...named] = words.filter((word) => !/^for:/.test(word))
    const tools = named.filter((word) => word.startsWith('tool:')).map((word) => ({ tool: word.slice(5) }))
    const others = named.filter((word) => !word.startsWith('tool:'))
    requireSome(named, '/grant <participant> <capability…> [for:1h]')
    this.#known([recipient])
    const capabilities = [...tools, ...(await parseCapabilities(others))]
    const expiresAt = parseExpiry({ for: span })
    const { space, view } = this.#context
    const ids = space.participants.map(({ id }) => id)
    for (const warning of findCapabilityWarnings(capabilities, ids)) view.notify(`warning: ${warning}`)
    const { id } = await space.grant(recipient, capabilities, omitUndefined({ expiresAt }))
    view.notify(`✓ ${recipient} may ${formatCapabilities(capabilities)} (grant ${id})`)
  }

  async #pause(words: readonly string[]): Promise<void> {
    const span = words.find((word) => /^\d+[smhd]$/.test(word))
    const ids = requireSome(
      words.filter((word) => word !== span),
      '/pause <participant…> [10m]',
    )
    const timeout = span === undefined ? {} : { timeoutSeconds: parseTimeSpan(span, '/pause') / 1000 }
    await this.#context.space.pause(this.#known(ids), timeout)
  }
}

/** Maximum characters that terminals accept for the clipboard. */
const maxCopyChars = 70_000

/** Maximum milliseconds for an agent to compact its memory. */
const compactMs = 300_000

const notShown =
  'not all of it was shown, so it cannot be approved yet: Ctrl+P shows it, or says where all of it is shown'

/** Parses `path=report* euros=42 for:1h`; a value is a number if the proposed argument is one. Throws `UsageError`. */
function readTerms(words: readonly string[], args: unknown): AlwaysOptions {
  const proposed = isObject(args) ? args : {}
  const read = (name: string, value: string): string | number | boolean => {
    const type = typeof proposed[name]
    if (type === 'boolean' && /^(?:true|false)$/.test(value)) return value === 'true'
    return type === 'number' && value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value
  }
  const span = words.find((word) => word.startsWith('for:'))?.slice('for:'.length)
  const values = words.filter((word) => !word.startsWith('for:')).map((word) => word.split(/=(.*)/s))
  const wrong = values.find(([name, value]) => name === '' || value === undefined)
  if (wrong !== undefined) throw invalidValue('/always', 'terms', wrong[0] ?? '')
  const named = Object.fromEntries(values.map(([name = '', value = '']) => [name, read(name, value)]))
  return {
    ...(values.length > 0 && { arguments: named }),
    ...omitUndefined({ expiresAt: parseExpiry({ for: span }) }),
  }
}

/** Throws `UsageError` if the list is empty. */
function requireSome<Item>(items: readonly Item[], form: string): readonly Item[] {
  if (items.length === 0) throw new UsageError('missing_argument', { form })
  return items
}

/** Parses the arguments of `/filter`. Throws `UsageError`. */
function parseFilter(words: readonly string[]): ViewFilter {
  const named = (name: string): string | undefined =>
    words.find((word) => word.startsWith(`${name}:`))?.slice(name.length + 1)
  const agent = words.filter((word) => word.startsWith('@')).map((word) => word.slice(1))
  const kind = words.filter((word) => !/^@|:/.test(word))
  const [context, reasoning] = [named('context'), named('reasoning')]
  const filter = readFilter({
    ...(agent.length > 0 && { agent }),
    ...(kind.length > 0 && { kind }),
    ...omitUndefined({ context, reasoning }),
  })
  return words.length === 0 ? filter : { ...filter, name: words.join(' ') }
}

/** Describes how much the gateway has withheld from this connection because of its filter. */
function formatSuppressed({ subscription }: WelcomePayload): string {
  const { envelopes, bytes } = subscription.suppressed
  const size = bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`
  return `${envelopes.toLocaleString('en')} envelopes (${size}) kept back so far`
}

/** The output of `/reasoning`, about the agent named with `@`, otherwise the one that answered last. */
async function inspect(argument: string, http: HttpClient, live: LiveTurns, style: Style): Promise<string[]> {
  const words = argument.split(/\s+/)
  const named = words.find((word) => word.startsWith('@'))?.slice(1)
  const asked = words.filter((word) => !word.startsWith('@')).join(' ')
  const answerer = live.answerer ?? (await findLatestAnswerer(http))
  const agent = named ?? answerer
  if (agent === undefined) throw new UsageError('unnamed_agent', { option: '@<agent>' })
  const thread = http.getThreadId(agent)
  const turns = await readRequestedTurns(http, thread, asked)
  const isActive = answerer !== undefined && thread === http.getThreadId(answerer)
  return reasoningCommand(asked, { turns, isActive }, style)
}

const toWork = ({ context, owner }: OpenRun): Interruptible => ({ id: context, owner, isRun: true })

/** Default and maximum number of envelopes of `/replay`. */
const [defaultReplayed, maxReplayed] = [50, 1000]

/** The output of `/replay`: the latest envelopes, or those of `<from>-<to>`. Throws `UsageError`. */
async function replayLines(argument: string, http: HttpClient, lines: LineRenderer): Promise<string[]> {
  const envelopes = await readPart(argument, http)
  const [first, last] = [envelopes[0]?.seq, envelopes.at(-1)?.seq]
  if (first === undefined) return ['there is nothing in the log there']
  return [`── replay ${first}–${last}`, ...envelopes.flatMap((each) => lines.lines(each)), '── end of replay']
}

async function readPart(argument: string, http: HttpClient): Promise<AnyEnvelope[]> {
  const [, from, to] = /^(\d{1,15})-(\d{1,15})$/.exec(argument) ?? []
  const found: AnyEnvelope[] = []
  if (from !== undefined && to !== undefined) {
    const range = { after: Math.max(Number(from) - 1, 0), before: Number(to) + 1 }
    for await (const envelope of http.readLog(range)) if (found.push(envelope) === maxReplayed) break
    return found
  }
  if (argument !== '' && !/^[1-9]\d{0,5}$/.test(argument)) {
    throw invalidValue('/replay', 'range', argument)
  }
  const count = Math.min(argument === '' ? defaultReplayed : Number(argument), maxReplayed)
  for await (const envelope of http.readLog({ order: 'desc' })) if (found.push(envelope) === count) break
  return found.reverse()
}

/** Maximum number of participants that `/participants` lists. */
const maxListed = 50
/** Maximum columns of a participant's name in this list, and of its capabilities. */
const [maxNameColumns, maxListColumns] = [30, 60]

/** Symbol before a participant's name, by its state. */
const stateSigns: Readonly<Record<StateText['name'], string>> = {
  here: '●',
  away: '○',
  starting: '○',
  paused: '‖',
  kicked: '✗',
  failed: '✗',
  restarting: '✗',
  resting: '✗',
}

/** The output of `/participants`, present ones first. `start`: prefix of their ids; `now`: gateway time. */
export function participantLines(
  { participants, runs, now }: Pick<SpaceClient, 'participants' | 'runs'> & { readonly now: number },
  start: string,
): string[] {
  const isHere = (status: string | undefined): boolean => status === 'present'
  const meant = participants.filter(({ id }) => id.startsWith(start))
  if (meant.length === 0)
    return [
      start === '' ? 'no participant is known' : `no participant's name begins with ${onOneLine(start)}`,
    ]
  const sorted = meant.toSorted((one, other) => Number(isHere(other.status)) - Number(isHere(one.status)))
  const rows = sorted.slice(0, maxListed).map((participant) => {
    const { id, capabilities } = participant
    const { name, text } = describeState(participant, now)
    return [
      stateSigns[name],
      truncate(onOneLine(id), maxNameColumns),
      name === 'here' ? formatLoad(id, runs) : text,
      truncate(formatCapabilities(capabilities), maxListColumns),
    ]
  })
  const more = sorted.length - rows.length
  return [
    ...formatTable(rows),
    ...(more > 0 ? [`… ${more.toLocaleString('en')} more; /participants <start of a name>`] : []),
  ]
}

function formatLoad(id: string, runs: readonly OpenRun[]): string {
  const own = runs.filter(({ owner }) => owner === id).length
  return own === 0 ? 'here' : own === 1 ? 'thinks' : `thinks ${own} times`
}
