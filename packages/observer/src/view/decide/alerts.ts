import type { ProposalView } from '@meup/folds'
import { correlations, Kind } from '@meup/protocol'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PageSession } from '../../connect/session.js'
import { nameText, questionText } from '../../model/index.js'
import { getSetting, type SettingName } from '../shared/settings.js'

const icon = (): HTMLLinkElement | null => document.querySelector('link[rel=icon]')
const ownIcon = icon()?.getAttribute('href') ?? ''

/** Shows the number of pending decisions in the title and the icon, and in notifications if enabled. */
export function useAlerts(session: PageSession, waiting: number, mine: readonly ProposalView[]): void {
  const { space } = session.place
  useEffect(() => {
    document.title = waiting === 0 ? space : `(${waiting}) ${space}`
    icon()?.setAttribute('href', waiting === 0 ? ownIcon : '/icon-waiting.svg')
  }, [space, waiting])
  const before = useRef(waiting)
  useEffect(() => {
    const isMore = waiting > before.current
    before.current = waiting
    if (!isMore) return
    const latest = mine.at(-1)
    const elicitation = session.model.elicitations(session.welcome?.you.id).at(-1)
    const title = `${space}: ${waiting} to decide`
    if (elicitation !== undefined || latest === undefined)
      notify('notify-decision', title, `${elicitation?.from ?? 'a tool'} asks you something`)
    else describeProposal(session, latest).then((body) => notify('notify-decision', title, body), reportError)
  }, [waiting])
  useMessageAlerts(session)
}

/** Notifies of the latest message that answers this reader, or asks them. */
function useMessageAlerts({ present: { log }, place: { space }, welcome }: PageSession): void {
  const me = welcome?.you.id ?? ''
  const seen = useRef(log.last)
  useEffect(() => {
    const before = seen.current
    seen.current = log.last
    if (before === 0 || !document.hidden) return
    const said = log.envelopes
      .slice(log.countThrough(before))
      .filter(({ kind, from }) => kind === Kind.chat && from !== me)
    const answer = said.findLast((each) => correlations(each).some((id) => log.get(id)?.from === me))
    const asking = said.findLast(({ to, payload: { mentions } }) =>
      [to ?? mentions ?? []].flat().includes(me),
    )
    if (answer !== undefined) notify('notify-answer', `${answer.from} answers`, questionText(answer))
    else if (asking !== undefined)
      notify('notify-mention', `${asking.from} asks you in ${space}`, questionText(asking))
  }, [log, log.last, me])
}

/** Shows a notification that this reader has asked for, where the page is not in view. */
function notify(setting: SettingName, title: string, body: string): void {
  if (!document.hidden || getPermission() !== 'granted' || getSetting(setting) !== 'on') return
  try {
    new Notification(title, { body, tag: `meup-${setting}` })
  } catch (error) {
    console.info('no notification was shown:', error) // Some phones only show notifications for installed pages.
  }
}

/** `coder proposes delete_file. Its server says that the tool may delete or overwrite.` */
async function describeProposal({ model }: PageSession, proposal: ProposalView): Promise<string> {
  const { judge } = await import('../../model/inbox.js')
  const { risk } = judge(model, proposal)
  const warning = risk.level === 'destructive' ? `Destructive: ${risk.reason}` : risk.reason
  return `${proposal.source.from} proposes ${nameText(proposal.tool)}. ${warning}`
}

const getPermission = (): NotificationPermission | 'unknown' =>
  'Notification' in window ? Notification.permission : 'unknown'

/** The browser's permission for notifications, and a function that asks for it. */
export function useNotifications(): {
  readonly state: NotificationPermission | 'unknown'
  readonly ask: () => void
} {
  const [state, setState] = useState(getPermission)
  return { state, ask: () => void Notification.requestPermission().then(setState) }
}
