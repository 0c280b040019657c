import { escapePattern, getAlwaysCapability, type OpenProposal } from '@meup/agent-sdk/watch'
import { capabilitySentence, isObject } from '@meup/folds'
import {
  type Capability,
  compileCapabilities,
  type Envelope,
  Kind,
  type PayloadPattern,
} from '@meup/protocol'
import type { VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { expiry, nameText } from '../../model/index.js'
import { Term } from '../shared/select.js'
import { useSpace } from '../shared/use-space.js'

type Arguments = Readonly<Record<string, PayloadPattern>>

interface AlwaysFormProps {
  readonly proposal: OpenProposal
  readonly tool: string
  readonly back: () => void
}

/**
 * Form that allows similar calls without approval: with equal arguments, with one equal argument, or with any, until a time.
 */
export function AlwaysForm({ proposal, tool, back }: AlwaysFormProps): VNode {
  const { session, isLive, act } = useSpace()
  const args = readArguments(proposal)
  const like = getSample(args)
  const [pattern, setPattern] = useState(like?.pattern ?? '')
  const exact = pinAll(args)
  const choices = {
    exact: getAlwaysCapability(proposal, exact),
    like: like && getAlwaysCapability(proposal, { [like.name]: pattern }),
    any: getAlwaysCapability(proposal),
  }
  const [width, setWidth] = useState<keyof typeof choices>(Object.keys(exact).length > 0 ? 'exact' : 'any')
  const [minutes, setMinutes] = useState<string>('60')
  const [isBusy, setBusy] = useState(false)
  const { from, id } = proposal
  const free = Object.keys(args).filter((name) => exact[name] === undefined)
  const allow = async (): Promise<void> => {
    setBusy(true)
    try {
      const now = session.model.gatewayTime(Date.now())
      const named = { exact, like: like && { [like.name]: pattern }, any: undefined }[width]
      await session.client?.proposals.allowAlways(id, {
        ...expiry(minutes, now),
        ...(named && { arguments: named }),
      })
    } finally {
      setBusy(false)
    }
  }
  const radio = (value: keyof typeof choices) => ({
    type: 'radio' as const,
    name: 'width',
    checked: width === value,
    onChange: () => setWidth(value),
  })
  return (
    <form
      class="always"
      aria-label={`Always allow ${from} to use ${nameText(tool)}`}
      onSubmit={(event) => {
        event.preventDefault()
        act('Not all of it was done', allow)
      }}
    >
      <p>
        Approve this, and let <strong>{from}</strong> make such calls without asking:
      </p>
      {Object.keys(exact).length > 0 && (
        <label>
          <input {...radio('exact')} />
          <span>
            this exact call
            {free.length > 0 && <span class="warn"> (with any {free.map(nameText).join(', ')})</span>}
            <Covered capability={choices.exact} proposal={proposal} />
          </span>
        </label>
      )}
      {like !== undefined && (
        <label>
          <input {...radio('like')} />
          <span>
            where {nameText(like.name)} is{' '}
            <input
              aria-label={`Pattern for ${nameText(like.name)}: ** matches anything, * anything but /`}
              value={pattern}
              maxLength={1000}
              spellcheck={false}
              onFocus={() => setWidth('like')}
              onInput={(event) => setPattern(event.currentTarget.value)}
            />
            <Covered capability={choices.like} proposal={proposal} />
          </span>
        </label>
      )}
      <label>
        <input {...radio('any')} />
        <span>
          anything
          <Covered capability={choices.any} proposal={proposal} />
        </span>
      </label>
      <Term minutes={minutes} set={setMinutes}>
        Until
      </Term>
      <div class="decision">
        <button type="submit" class="primary" disabled={!isLive || isBusy}>
          Allow
        </button>
        <button type="button" onClick={back}>
          Back
        </button>
      </div>
    </form>
  )
}

/** Number of past proposals on which a capability is tried. */
const maxTried = 20

/** The calls that a capability allows, and how many of the latest similar proposals it would have covered. */
function Covered({
  capability,
  proposal,
}: {
  capability: Capability | undefined
  proposal: OpenProposal
}): VNode | null {
  const { log } = useSpace().session.model
  const text = JSON.stringify(capability)
  const counted = useMemo(() => {
    const alike = log.envelopes.filter((each) => isAlike(each, proposal)).slice(-maxTried)
    return { covered: countCovered(capability, alike), all: alike.length }
  }, [text, proposal.id])
  if (capability === undefined) return null
  return (
    <span class="dim">
      <code>{capabilitySentence(capability)}</code>
      {counted.covered === undefined
        ? ' — no pattern'
        : ` — would have covered ${counted.covered} of the last ${counted.all}`}
    </span>
  )
}

const isAlike = ({ kind, from, to, payload }: Envelope, proposal: OpenProposal): boolean =>
  kind === Kind.mcpProposal &&
  from === proposal.from &&
  String(to) === String(proposal.to) &&
  payload.method === proposal.method &&
  Object(payload.params).name === Object(proposal.params).name

function countCovered(
  capability: Capability | undefined,
  proposals: readonly Envelope[],
): number | undefined {
  if (capability === undefined) return undefined
  try {
    const compiled = compileCapabilities([capability])
    return proposals.filter(
      ({ to, context, payload }) => compiled.allows({ kind: Kind.mcpRequest, to, context, payload }).allowed,
    ).length
  } catch {
    return undefined // The pattern may be invalid while it is typed.
  }
}

type Values = Readonly<Record<string, unknown>>

function readArguments({ params }: OpenProposal): Values {
  return isObject(params) && isObject(params.arguments) ? params.arguments : {}
}

/** Patterns that match exactly these arguments. Omits values that patterns cannot express, such as lists. */
const pinAll = (args: Values): Arguments =>
  Object.fromEntries(
    Object.entries(args).flatMap(([name, value]) => {
      const pinned = /^[\w.-]{1,64}$/.test(name) ? pin(value) : undefined
      return pinned === undefined ? [] : [[name, pinned]]
    }),
  )

function pin(value: unknown): PayloadPattern | undefined {
  if (typeof value === 'string') return value.length <= maxTextChars ? escapePattern(value) : undefined
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value
  return undefined
}

const maxTextChars = 1000

/** The argument in which similar calls are likely to differ, with a pattern: for a path, everything in the same folder. */
function getSample(args: Values): { readonly name: string; readonly pattern: string } | undefined {
  const texts = Object.entries(pinAll(args)).filter(
    (each): each is [string, string] => typeof each[1] === 'string',
  )
  const path = texts.find(([, text]) => text.includes('/') && !/\s/.test(text))
  const [name, text] = path ?? texts[0] ?? []
  if (name === undefined || text === undefined) return undefined
  return { name, pattern: path === undefined ? text : `${text.slice(0, text.lastIndexOf('/') + 1)}*` }
}
