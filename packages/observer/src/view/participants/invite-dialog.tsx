import { HttpClient } from '@meup/agent-sdk/http'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { disconnectedError, explainError } from '../../connect/errors.js'
import { readCapabilities } from '../../model/index.js'
import { CloseDialog, Dialog } from '../shared/dialog.js'
import { ErrorText } from '../shared/error-text.js'
import { CopyButton, Options } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { CapabilityWarnings, useWarnings } from './granted-capabilities.js'
import '../../style/person.css'

/** Typical capabilities of invited people and agents. */
const presets = [
  ['chat\nreasoning.*\nmcp.proposal', 'talk, think aloud, interrupt runs, and propose calls'],
  ['chat', 'talk'],
  ['chat\nreasoning.*\nmcp.request', 'talk, think aloud, interrupt runs, and call tools'],
] as const

interface Invited {
  readonly id: string
  readonly token: string
  readonly link: string | undefined
}

/** Asks for a name and capabilities, then shows a link and a command to copy. */
export function InviteDialog({ close }: { close: () => void }): VNode {
  const { session } = useSpace()
  const [id, setId] = useState('')
  const [capabilities, setCapabilities] = useState<string>(presets[0][0])
  const [invited, setInvited] = useState<Invited | undefined>()
  const [problem, setProblem] = useState<unknown>()
  const { warnings, isInSpite, confirm } = useWarnings(capabilities)
  const invite = async (): Promise<void> => {
    const { client, place } = session
    if (client === undefined) throw disconnectedError()
    const invitation = await client.invite(id.trim(), readCapabilities(capabilities))
    if (invitation.token === undefined) {
      throw new Error(`${id} belongs to the space already, and keeps its token. Choose another name.`)
    }
    const { token } = invitation
    // Creates a link, whose code expires after a minute. The token stays valid, so it is shown even if this fails.
    const code = await new HttpClient({ ...place, token }).createLink().catch((error: unknown) => {
      session.setNotice(`No link was made; the token works: ${explainError(error)}`)
      return undefined
    })
    const link = code && `${place.url}/#/open/${code.code}`
    setInvited({ id: id.trim(), token, link })
  }
  return (
    <Dialog label="Invite" kind="invite-dialog" close={close}>
      <h2>{invited === undefined ? 'Invite a participant' : `${invited.id} is invited`}</h2>
      {invited === undefined ? (
        <form
          class="grant"
          onSubmit={(event) => {
            event.preventDefault()
            setProblem(undefined)
            if (confirm()) invite().catch(setProblem)
          }}
        >
          <label>
            Name
            <input
              name="participant"
              required
              maxLength={64}
              spellcheck={false}
              value={id}
              onInput={(event) => setId(event.currentTarget.value)}
            />
          </label>
          <label>
            May
            <select value={capabilities} onChange={(event) => setCapabilities(event.currentTarget.value)}>
              <Options of={presets} />
              {presets.every(([list]) => list !== capabilities) && (
                <option value={capabilities}>what is written below</option>
              )}
            </select>
          </label>
          <label>
            Capabilities, one a line
            <textarea
              name="invited-capabilities"
              rows={3}
              spellcheck={false}
              value={capabilities}
              onInput={(event) => setCapabilities(event.currentTarget.value)}
            />
          </label>
          <CapabilityWarnings warnings={warnings} />
          <ErrorText error={problem} />
          <button type="submit" class="primary">
            {isInSpite ? 'Invite anyway' : 'Invite'}
          </button>
        </form>
      ) : (
        <InvitedWays invited={invited} url={session.place.url} space={session.place.space} />
      )}
      <CloseDialog />
    </Dialog>
  )
}

function InvitedWays({ invited, url, space }: { invited: Invited; url: string; space: string }): VNode {
  const { token, link } = invited
  const command = `MEUP_TOKEN=${token} meup join --url ${url} --space ${space}`
  return (
    <div class="invited">
      {link !== undefined && (
        <p>
          <span class="label">A link, once and within a minute</span>
          <CopyButton text={link} what="the link" />
          <code class="exact">{link}</code>
        </p>
      )}
      <p>
        <span class="label">From a terminal</span>
        <CopyButton text={command} what="the command" />
        <code class="exact">{command}</code>
      </p>
      <p class="dim">The token is shown here alone: it is in no log.</p>
    </div>
  )
}
