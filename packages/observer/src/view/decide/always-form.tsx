import type { OpenProposal } from '@meup/agent-sdk/watch'
import { isObject } from '@meup/folds'
import { type Capability, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { escapeGlob, nameText, terms } from '../../model/index.js'
import { Checkbox } from '../shared/parts.js'
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
  const { from, to = [], method, id } = proposal
  const grant = async (): Promise<void> => {
    const now = session.model.gatewayTime(Date.now())
    const expiresAt = minutes === '' ? undefined : new Date(now + Number(minutes) * 60_000).toISOString()
    const params = { name: escapeGlob(tool), ...(Object.keys(kept).length > 0 && { arguments: kept }) }
    const capability: Capability = {
      kind: Kind.mcpRequest,
      to: to.length === 1 ? String(to[0]) : [...to],
      payload: { method: escapeGlob(method), params },
    }
    await session.client?.grant(from, [capability], expiresAt === undefined ? {} : { expiresAt })
    await session.client?.proposals.approve(id)
  }
  return (
    <form
      class="always"
      aria-label={`Always allow ${from} to use ${nameText(tool)}`}
      onSubmit={(event) => {
        event.preventDefault()
        act('It was not allowed', grant)
      }}
    >
      <p>
        Approve this, and let <strong>{from}</strong> use <code>{nameText(tool)}</code> of{' '}
        <strong>{to.join(', ')}</strong> without asking, with any arguments but those that are chosen here
      </p>
      {args.map(([name, value]) => (
        <p key={name} class="always-argument">
          <Checkbox
            checked={kept[name] !== undefined}
            set={(isKept) => {
              const { [name]: _, ...others } = kept
              keep(isKept ? { ...others, [name]: escapeGlob(value) } : others)
            }}
          >
            only where {nameText(name)} is
          </Checkbox>
          <input
            aria-label={`What ${nameText(name)} may be; * stands for anything`}
            disabled={kept[name] === undefined}
            value={kept[name] ?? value}
            maxLength={1000}
            spellcheck={false}
            onInput={(event) => keep({ ...kept, [name]: event.currentTarget.value })}
          />
        </p>
      ))}
      <label>
        Until{' '}
        <select value={minutes} onChange={(event) => setMinutes(event.currentTarget.value)}>
          {terms.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <div class="decision">
        <button type="submit" class="primary" disabled={!isLive}>
          Allow
        </button>
        <button type="button" onClick={back}>
          Back
        </button>
      </div>
    </form>
  )
}

/** Arguments that are short texts: those that a pattern can hold. */
function textArguments({ params }: OpenProposal): readonly [name: string, value: string][] {
  const args = isObject(params) && isObject(params.arguments) ? params.arguments : {}
  return Object.entries(args).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].length <= maxTextChars,
  )
}

const maxTextChars = 200
