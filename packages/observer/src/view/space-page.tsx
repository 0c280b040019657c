import { ToolError } from '@meup/agent-sdk/watch'
import type { Detail } from '@meup/protocol'
import { type Envelope, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { explainError } from '../connect/errors.js'
import { readOne } from '../connect/history.js'
import type { PageSession } from '../connect/session.js'
import {
  findPart,
  getPartKey,
  getText,
  isFiltering,
  type RowList,
  readRoute,
  splitText,
} from '../model/index.js'
import { Beside, LoadingBack } from './beside.js'
import { isDecidable } from './decide/is-decidable.js'
import { UndoToast } from './decide/undo-toast.js'
import { Empty, isQuiet, NothingPasses } from './empty.js'
import { Filters } from './filters/filters.js'
import { useHighlights } from './find/use-highlights.js'
import { Header } from './header.js'
import { createKeymap, type Keymap, listenToKeys } from './keymap.js'
import { PeoplePanel } from './participants/people.js'
import { updateAddress, useCatchingUp, useScrollPosition } from './shared/hooks.js'
import { lazy, loadAll } from './shared/lazy.js'
import { openInPlace } from './shared/opened.js'
import { useSetting } from './shared/settings.js'
import { useUnread } from './shared/unread.js'
import {
  type Composer,
  type Panel,
  type SpaceActions,
  SpaceProvider,
  useViewFilter,
} from './shared/use-space.js'
import type { Reveal, RowsHandle } from './shared/virtual-rows.js'
import { Announcements, StatusLine } from './status-line.js'
import { panelId, tabId, useView, ViewTabs, views } from './view-tabs.js'
import { MessageBox } from './write/message-box.js'

const LinkedMoment = lazy(() => import('./linked-moment.js').then(({ LinkedMoment }) => LinkedMoment))
const HiddenList = lazy(() => import('./filters/hidden-list.js').then(({ HiddenList }) => HiddenList))
const Help = lazy(() => import('./help.js').then(({ Help }) => Help))
const Palette = lazy(() => import('./palette.js').then(({ Palette }) => Palette))
const SettingsDialog = lazy(() => import('./settings-dialog.js').then(({ SettingsDialog }) => SettingsDialog))

interface SpacePageProps {
  readonly session: PageSession
  readonly leave: () => void
  /** Seq of the selected envelope in the URL. */
  readonly linked: number | undefined
  /** Seq of the last shown envelope, from the URL, if the page shows a moment in the past. */
  readonly moment: number | undefined
  readonly redraw: () => void
}

const nextDetail: Readonly<Record<Detail, Detail>> = {
  full: 'summary',
  summary: 'boundaries',
  boundaries: 'none',
  none: 'full',
}

/** The page of a space: participants, view, message box, and side panel. */
export function SpacePage({ session, leave, linked, moment, redraw }: SpacePageProps): VNode {
  const { model } = session
  /** Key of the current row. */
  const [current, setCurrent] = useState<string | undefined>()
  const [panel, setPanel] = useState<Panel | undefined>(() =>
    readRoute(location.hash).query === undefined ? undefined : { at: 'find' },
  )
  const [requestError, setRequestError] = useState<string | undefined>()
  const [dialog, openDialog] = useState<'help' | 'settings' | 'palette' | undefined>()
  const [isMenuOpen, openMenu] = useState(false)
  const [isTimeOpen, openTime] = useState(false)
  const keys = useSetting('keys')
  const shown = useRef<RowsHandle | undefined>(undefined)
  const composer = useRef<Composer | undefined>(undefined)
  const [view, turn] = useView()
  const View = views[view].component
  const isLive = session.client !== undefined

  const act = useCallback((what: string, work: () => Promise<unknown>): void => {
    setRequestError(undefined)
    work().catch((error: unknown) => {
      // Errors of tools are already shown in the stream.
      if (!(error instanceof ToolError)) setRequestError(`${what}: ${explainError(error)}`)
    })
  }, [])
  const viewFilter = useViewFilter(session, act, redraw)
  useScrollPosition(session, shown)
  useCatchingUp(model, redraw)
  const query = session.finder.sought.text
  useHighlights(query)
  useEffect(() => updateAddress({ query: query === '' ? undefined : query }), [query])
  /**
   * Brings the row of an envelope into view; if it has none, the preceding row, and returns `false`. `part`: index of a
   * message's part.
   */
  const showRow = (id: string, how: Reveal, part = 0): boolean => {
    const envelope = session.model.log.get(id)
    const line = envelope === undefined ? id : session.model.getLineId(envelope)
    if (line !== id) openInPlace(line) // Opens the details of the call, which show a response.
    session.model.unfold(line)
    const key = shown.current?.reveal(envelope && part > 0 ? getPartKey(envelope, part) : line, how)
    const before = key === undefined && envelope && findBefore(shown.current?.list, envelope)
    if (before) shown.current?.reveal(before, 'shown')
    if (key !== undefined) setCurrent(key)
    return key !== undefined
  }
  const [unread, markRead] = useUnread(session)
  const shownPanel = useRef(panel)
  shownPanel.current = panel
  // Memoized: a new object would redraw all rows whenever the side panel changes.
  const space = useMemo<SpaceActions>(
    () => ({
      session,
      isLive,
      can: (draft) => session.can(draft),
      select({ key, envelope: { id } }) {
        setCurrent(key)
        setPanel((now) => (now?.at === 'envelope' ? { at: 'envelope', id } : now))
      },
      inspect(id) {
        updateAddress({ seq: session.model.log.get(id)?.seq })
        const isShown = showRow(id, 'focused')
        const { current: panel } = shownPanel
        // The inbox, an explanation and the search stay open, so that the reader can go on to their next entry.
        const isList = panel !== undefined && ['inbox', 'why', 'find'].includes(panel.at)
        if (panel !== undefined && isList && isShown) setPanel({ ...panel, isLow: true })
        else setPanel({ at: 'envelope', id })
      },
      reveal(hit) {
        const { id, seq } = hit
        const { current: panel } = shownPanel
        const envelope = session.model.log.get(id)
        if (envelope !== undefined) {
          const part = findPart(splitText(getText(envelope)), hit)
          // Opens a long thought: until then it is truncated, and the part with the hit is hidden.
          if (part > 0) openInPlace(`text ${id}`)
          if (!showRow(id, 'shown', envelope.kind === Kind.chat ? part : 0)) setPanel({ at: 'envelope', id })
          else if (panel !== undefined) setPanel({ ...panel, isLow: true })
          return
        }
        act('It could not be loaded', async () =>
          setPanel({ at: 'envelope', id, envelope: await readOne(session.http, seq) }),
        )
      },
      unread,
      markRead,
      get panel() {
        return shownPanel.current
      },
      showPanel: setPanel,
      cycle(context) {
        session.model.cycle(context)
        redraw()
      },
      choose(context, level) {
        session.model.choose(context, level)
        redraw()
      },
      viewFilter,
      composer,
      act,
    }),
    [session, isLive, session.rights, unread?.key, unread?.count],
  )
  const close = (): void => {
    if (panel === undefined) markRead()
    if (panel?.at === 'envelope') updateAddress({ seq: undefined })
    if (panel?.at === 'find') session.finder.find({ text: '' })
    setPanel(undefined)
  }
  const goTo = (index: number): void => {
    const slot = shown.current?.list.slots[index]
    if (slot === undefined) return
    setCurrent(slot.key)
    if (panel?.at === 'envelope') setPanel({ at: 'envelope', id: slot.envelope.id })
    shown.current?.focus(index)
  }
  const toPending = (): void => {
    const mine = model.pending(Date.now()).filter((each) => isDecidable(each, session, space.can))
    const [first] = [...model.elicitations(session.welcome?.you.id), ...mine]
    const key = first && shown.current?.reveal(first.id)
    if (key !== undefined) setCurrent(key)
  }
  const show = (detail: Detail): void =>
    space.act('The display could not be changed', () => session.setDetail(detail))

  const found = linked === undefined ? undefined : model.log.at(linked)?.id
  const isAbsent = linked !== undefined && found === undefined && model.log.covers(linked)
  useEffect(() => {
    if (found !== undefined) space.inspect(found)
    if (isAbsent) setRequestError(`#${linked} is not for you, or was cut by you`)
  }, [linked, found, isAbsent])

  useEffect(() => {
    const load = (): void => void loadAll().catch((error: unknown) => console.info('not loaded yet:', error))
    if ('requestIdleCallback' in globalThis) requestIdleCallback(load)
    else load()
  }, [])

  useEffect(() => {
    const retry = (): void => {
      if (!document.hidden) session.retryNow()
    }
    addEventListener('online', retry)
    document.addEventListener('visibilitychange', retry)
    return () => {
      removeEventListener('online', retry)
      document.removeEventListener('visibilitychange', retry)
    }
  }, [session])

  useEffect(() => {
    // Closes the menu when the screen crosses this width: on a wide screen, its content fits next to the view.
    const small = matchMedia('(max-width: 800px)')
    const turned = (): void => openMenu(false)
    small.addEventListener('change', turned)
    return () => small.removeEventListener('change', turned)
  }, [])

  /** Closes a dialog, unless another one has replaced it. */
  const closeDialog = (which: typeof dialog) => (): void =>
    openDialog((now) => (now === which ? undefined : now))
  const keymap = useRef<() => Keymap>(() => ({}))
  keymap.current = () => {
    const list = shown.current?.list ?? model.lists.stream
    const { slots } = list
    const at = slots.findIndex(({ key }) => key === current)
    const actions = {
      ...{ model, list, view, at, goTo, toPending, redraw },
      inspect: () => {
        const id = slots[at]?.envelope.id
        if (id !== undefined) space.inspect(id)
      },
      toEnd: () => {
        session.time.toPresent()
        shown.current?.toEnd()
      },
      playOrStop: () => session.time.togglePlay(),
      turn,
      turnThoughts: () => show(nextDetail[session.detail]),
      search: toSearch,
      why: () => {
        const id = slots[at]?.envelope.id
        if (id !== undefined) setPanel({ at: 'why', id })
      },
      write: () => document.querySelector<HTMLElement>('.message-box textarea')?.focus(),
      inbox: () => setPanel(panel?.at === 'inbox' ? undefined : { at: 'inbox' }),
      undo: () => session.held.undo(),
      toFilters,
      help: () => openDialog('help'),
      notify: (notice: string) => session.setNotice(notice),
    }
    return { Escape: close, ...(keys === 'on' && createKeymap(actions)) }
  }
  useEffect(
    () =>
      listenToKeys(
        () => keymap.current(),
        () => openDialog('palette'),
      ),
    [],
  )

  return (
    <SpaceProvider value={space}>
      <div
        class={`page ${panel === undefined || panel.at === 'inbox' ? '' : 'inspecting'} ${panel?.isLow ? 'low' : ''} ${isLive ? '' : 'offline'} ${isMenuOpen ? 'menu-open' : ''}`}
      >
        <Header
          {...{ session, show, leave, isMenuOpen, openMenu, isTimeOpen, openTime }}
          openSettings={() => openDialog('settings')}
        />
        <div class="side" role={isMenuOpen ? 'main' : undefined}>
          <PeoplePanel />
          <Filters />
          <HiddenList />
        </div>
        {/** Inert while the inbox covers it. */}
        <main inert={panel?.at === 'inbox'}>
          <ViewTabs view={view} turn={turn} />
          <div class="view" role="tabpanel" id={panelId} aria-labelledby={tabId(view)}>
            {isFiltering(model.viewFilter.filter) && model.lists.stream.slots.length === 0 ? (
              <NothingPasses widen={viewFilter.widen} />
            ) : isQuiet(model.lists.stream) &&
              !isFiltering(model.viewFilter.filter) &&
              session.outbox.list.length === 0 &&
              !session.time.isPast ? (
              <Empty session={session} />
            ) : (
              <View
                current={current}
                handle={(handle) => {
                  shown.current = handle
                }}
              />
            )}
            {linked !== undefined && found === undefined && !isAbsent && <LoadingBack seq={linked} />}
          </div>
          <footer>
            <StatusLine {...{ session, requestError, leave, redraw }} />
            <LinkedMoment linked={moment} isOpen={isTimeOpen} />
            <MessageBox help={() => openDialog('help')} />
          </footer>
        </main>
        {panel !== undefined && <Beside panel={panel} close={close} />}
        {dialog === 'help' && <Help close={closeDialog('help')} />}
        {dialog === 'settings' && (
          <SettingsDialog showKeys={() => openDialog('help')} close={closeDialog('settings')} />
        )}
        {dialog === 'palette' && (
          <Palette {...{ turn, toSearch, openDialog }} close={closeDialog('palette')} />
        )}
        <UndoToast />
        <Announcements model={model} />
      </div>
    </SpaceProvider>
  )
}

/** Id of the last row before an envelope. */
const findBefore = (list: RowList | undefined, { seq = 0 }: Envelope): string | undefined =>
  list?.slots.findLast(({ envelope }) => (envelope.seq ?? 0) <= seq)?.envelope.id

const toSearch = (): void => document.querySelector<HTMLElement>('.find-box input')?.focus()

const toFilters = (): void => document.querySelector<HTMLElement>('.filters button')?.focus()
