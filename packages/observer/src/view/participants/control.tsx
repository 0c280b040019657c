import { onOneLine } from '@meup/folds'
import { Kind, type ParticipantDetails } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { momentText } from '../../model/index.js'
import { Icon } from '../shared/parts.js'
import { Term } from '../shared/select.js'
import { useSpace } from '../shared/use-space.js'

/** Text such as `paused by ana: too fast, until 22 Nov 12:01:33`. */
const restrictionText = (
  what: string,
  { by, reason, until }: NonNullable<ParticipantDetails['paused']>,
): string =>
  onOneLine(
    `${what} by ${by}${reason ? `: ${reason}` : ''}${until === undefined ? '' : `, until ${momentText(until)}`}`,
  )

/** Buttons to pause, resume, interrupt and kick a participant, as far as the reader may. */
export function ParticipantControl({ id }: { id: string }): VNode | null {
  const { session, isLive, can, act } = useSpace()
  const [isRemoving, setRemoving] = useState(false)
  const [minutes, setMinutes] = useState('')
  const { model, client } = session
  const isMe = id === session.welcome?.you.id
  const { paused: pause, kicked } = model.stateOf(id, Date.now())
  const runs = model.runs().flatMap(({ context, owner }) => (owner === id ? [context] : []))
  const mayPause = !isMe && can({ kind: Kind.participantPause, to: [id] })
  const mayResume = can({ kind: Kind.participantResume, to: [id] })
  const stoppable = runs.filter((context) => can({ kind: Kind.reasoningCancel, context }))
  const mayRemove =
    !isMe && kicked === undefined && can({ kind: Kind.spaceKick, payload: { participantId: id } })
  const isRestricted = pause !== undefined || kicked !== undefined
  if (!isRestricted && !mayPause && stoppable.length === 0 && !mayRemove) return null
  const seconds = minutes === '' ? {} : { timeoutSeconds: Number(minutes) * 60 }
  return (
    <section class="control" aria-label={`Control ${id}`}>
      {kicked !== undefined && <p class="bad">{restrictionText('kicked', kicked)}</p>}
      {pause !== undefined && <p class="warn">{restrictionText('paused', pause)}</p>}
      <p class="decision">
        {pause === undefined && mayPause && (
          <>
            <button
              type="button"
              disabled={!isLive}
              onClick={() => act(`${id} could not be paused`, async () => client?.pause([id], seconds))}
            >
              <Icon sign="stop" /> Pause
            </button>
            <Term minutes={minutes} set={setMinutes} open="until it is resumed">
              Paused
            </Term>
          </>
        )}
        {pause !== undefined && mayResume && (
          <button
            type="button"
            class="primary"
            disabled={!isLive}
            onClick={() => act(`${id} could not be resumed`, async () => client?.resume([id]))}
          >
            <Icon sign="play" /> Resume
          </button>
        )}
        {stoppable.length > 0 && (
          <button
            type="button"
            disabled={!isLive}
            onClick={() => act('Not all runs could be interrupted', () => session.interrupt(stoppable))}
          >
            ◼ Interrupt{stoppable.length > 1 ? ` ${stoppable.length} runs` : ''}
          </button>
        )}
        {mayRemove && !isRemoving && (
          <button type="button" class="bad" disabled={!isLive} onClick={() => setRemoving(true)}>
            Remove…
          </button>
        )}
      </p>
      {isRemoving && (
        <p class="decision">
          Remove {id} from the space, until it is invited again?
          <button
            type="button"
            class="bad"
            disabled={!isLive}
            onClick={() => {
              setRemoving(false)
              act(`${id} could not be removed`, async () => client?.kick(id))
            }}
          >
            Remove
          </button>
          <button type="button" onClick={() => setRemoving(false)}>
            Back
          </button>
        </p>
      )}
    </section>
  )
}
