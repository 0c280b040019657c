import { escapePattern, getAlwaysCapability, type OpenProposal } from '@meup/agent-sdk/watch'
import { capabilitySentence, isObject } from '@meup/folds'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { expiry, nameText } from '../../model/index.js'
import { Checkbox, Term } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'

interface AlwaysFormProps {
  readonly proposal: OpenProposal
  readonly tool: string
  readonly back: () => void
}

/** Lets a participant do the like of what it proposes from now on: which tool, of whom, with which arguments, until when. */
export function AlwaysForm({ proposal, tool, back }: AlwaysFormProps): VNode {
  const { session, isLive, act } = useSpace()
  const args = textArguments(proposal)
  const [kept, keep] = useState<Readonly<Record<string, string>>>({})
  const [minutes, setMinutes] = useState<string>('60')
  const [isBusy, setBusy] = useState(false)
  const { from, id } = proposal
  const narrowed = Object.keys(kept).length > 0 ? kept : undefined
  const capability = getAlwaysCapability(proposal, narrowed)
  const allow = async (): Promise<void> => {
    setBusy(true)
    try {
      const now = session.model.gatewayTime(Date.now())
      await session.client?.proposals.allowAlways(id, {
        ...expiry(minutes, now),
        ...(narrowed && { arguments: narrowed }),
      })
    } finally {
      setBusy(false)
    }
  }
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
        Approve this, and let <strong>{from}</strong>{' '}
        <code>{capability === undefined ? '' : capabilitySentence(capability)}</code> without asking, with any
        arguments but those that are chosen here
      </p>
      {args.map(([name, value]) => (
        <p key={name} class="always-argument">
          <Checkbox
            checked={kept[name] !== undefined}
            set={(isKept) => {
              const { [name]: _, ...others } = kept
              keep(isKept ? { ...others, [name]: escapePattern(value) } : others)
            }}
          >
            only where {nameText(name)} is
          </Checkbox>
          <input
            aria-label={`What ${nameText(name)} may be; ** stands for anything, * for anything but /`}
            disabled={kept[name] === undefined}
            value={kept[name] ?? value}
            maxLength={1000}
            spellcheck={false}
            onInput={(event) => keep({ ...kept, [name]: event.currentTarget.value })}
          />
        </p>
      ))}
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

/** Arguments that are short texts with plain names: those that a pattern can hold, and a reader can check. */
function textArguments({ params }: OpenProposal): readonly [name: string, value: string][] {
  const args = isObject(params) && isObject(params.arguments) ? params.arguments : {}
  return Object.entries(args).filter(
    (entry): entry is [string, string] =>
      /^[\w.-]{1,64}$/.test(entry[0]) && typeof entry[1] === 'string' && entry[1].length <= maxTextChars,
  )
}

const maxTextChars = 200
