import { getAnswerState, type ProposalView } from '@meup/folds'
import { correlations, type Envelope, GATEWAY, Kind } from '@meup/protocol'
import { useState } from 'preact/hooks'
import type { PageSession } from '../../connect/session.js'
import { judge, nameText, questionText } from '../../model/index.js'
import { getSetting, type SettingName } from '../shared/settings.js'
import type { SpaceActions } from '../shared/use-space.js'

/** Shows a notification about pending decisions. `latest`: the newest proposal. */
export function notifyOfDecision(
  { session, showPanel }: SpaceActions,
  waiting: number,
  latest: ProposalView | undefined,
): void {
  const elicitation = session.model.elicitations(session.welcome?.you.id).at(-1)
  const id = elicitation?.id ?? latest?.id
  const body =
    elicitation !== undefined || latest === undefined
      ? `${elicitation?.from ?? 'a tool'} asks you something`
      : describeProposal(session, latest)
  const title = `${session.place.space}: ${waiting} to decide`
  notify('notify-decision', title, body, () => showPanel({ at: 'inbox', id }))
}

/** Shows notifications about the newest failure, answer to this reader, and mention of this reader. */
export function notifyOfMessages({ session, reveal }: SpaceActions, envelopes: readonly Envelope[]): void {
  const { present, place, welcome } = session
  const { log } = present
  const me = welcome?.you.id ?? ''
  const news = envelopes.filter(({ from }) => from !== me)
  const said = news.filter((each) => each.kind === Kind.chat && !isFailedRun(each))
  const show = (setting: SettingName, title: string, envelope: Envelope): void =>
    notify(setting, title, questionText(envelope), () =>
      reveal({ id: envelope.id, seq: envelope.seq ?? 0, snippet: '', ranges: [] }),
    )
  const failure = news.findLast(isFailedRun)
  const answer = said.findLast((each) => correlations(each).some((id) => log.get(id)?.from === me))
  const asking = said.findLast(({ to, payload: { mentions } }) => [to ?? mentions ?? []].flat().includes(me))
  if (failure !== undefined)
    show('notify-failure', `${agentOf(failure, log)} failed in ${place.space}`, failure)
  if (answer !== undefined) show('notify-answer', `${answer.from} answers`, answer)
  if (asking !== undefined && asking !== answer)
    show('notify-mention', `${asking.from} asks you in ${place.space}`, asking)
}

/**
 * Whether an envelope says that an agent failed: it could not answer, or the gateway cancelled its run because its program
 * ended.
 */
const isFailedRun = ({ kind, from, payload }: Envelope): boolean =>
  kind === Kind.chat ? getAnswerState(payload) === 'error' : kind === Kind.reasoningCancel && from === GATEWAY

/** The owner of a failed run. */
const agentOf = ({ kind, from, context = '' }: Envelope, log: PageSession['present']['log']): string =>
  kind === Kind.chat ? from : (log.get(context.slice(context.lastIndexOf('/') + 1))?.from ?? from)

/** Shows a notification, if the reader has enabled this kind. `go`: called when it is clicked. */
function notify(setting: SettingName, title: string, body: string, go: () => void): void {
  if (getPermission() !== 'granted' || getSetting(setting) !== 'on') return
  try {
    new Notification(title, { body, tag: `meup-${setting}` }).onclick = () => {
      window.focus()
      go()
    }
  } catch (error) {
    console.info('no notification was shown:', error) // On some phones only installed pages may show notifications.
  }
}

/** Text such as `coder proposes delete_file. Its server says that the tool may delete or overwrite.` */
function describeProposal({ model }: PageSession, proposal: ProposalView): string {
  const { risk } = judge(model, proposal)
  const warning = risk.level === 'destructive' ? `Destructive: ${risk.reason}` : risk.reason
  return `${proposal.source.from} proposes ${nameText(proposal.tool)}. ${warning}`
}

const getPermission = (): NotificationPermission | 'unknown' =>
  'Notification' in window ? Notification.permission : 'unknown'

/** The browser's permission for notifications, and a function that requests it. */
export function useNotifications(): {
  readonly state: NotificationPermission | 'unknown'
  readonly ask: () => void
} {
  const [state, setState] = useState(getPermission)
  return { state, ask: () => void Notification.requestPermission().then(setState) }
}
