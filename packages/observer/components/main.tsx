import { type ComponentType, render, type VNode } from 'preact'
import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { saveDraft } from '../src/connect/storage.js'
import { Lanes } from '../src/view/conversation/lanes.js'
import { Stream } from '../src/view/conversation/stream.js'
import { Inbox } from '../src/view/decide/inbox.js'
import { Palette } from '../src/view/palette.js'
import { SettingsDialog } from '../src/view/settings-dialog.js'
import { getSetting, setSetting } from '../src/view/shared/settings.js'
import { Trace } from '../src/view/trace/trace.js'
import { MessageBox } from '../src/view/write/message-box.js'
import { StateFrame } from './frame.js'
import { conversation, decisions, emptyScript } from './logs.js'

const ignore = (): void => {}
const view = { current: undefined, handle: ignore }

saveDraft('box-empty', '')
saveDraft('box-names', '@planner and @nobody: is it done?')
saveDraft('box-command', '/pauze planner')

/** Checks the checkboxes of a trace's questions, so that the page compares them. */
function Checked(): VNode {
  const place = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    const boxes =
      place.current?.parentElement?.querySelectorAll<HTMLInputElement>('.question-line input') ?? []
    for (const box of boxes) box.click()
  }, [])
  return <span ref={place} />
}

/** A button that opens a dialog. */
function Opened({ dialog: Shown }: { dialog: ComponentType<{ close(): void }> }): VNode {
  const [isOpen, open] = useState(false)
  return isOpen ? (
    <Shown close={() => open(false)} />
  ) : (
    <button type="button" onClick={() => open(true)}>
      Open
    </button>
  )
}

/** Shows every state of the components, in both themes and at any width. */
function Components(): VNode {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const theme = getSetting('theme')
  document.documentElement.dataset.theme = theme
  return (
    <main>
      <h1>Components</h1>
      <p>
        {['auto', 'light', 'dark'].map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === theme}
            onClick={() => {
              setSetting('theme', each)
              redraw()
            }}
          >
            {each}
          </button>
        ))}
      </p>
      <StateFrame name="conversation and tool calls" script={conversation()} isTall={true}>
        <Stream {...view} />
      </StateFrame>
      <StateFrame name="cards" script={decisions()} isTall={true}>
        <Stream {...view} />
      </StateFrame>
      <StateFrame name="inbox" script={decisions()} isTall={true} panel={{ at: 'inbox' }}>
        <Inbox close={ignore} />
      </StateFrame>
      <StateFrame name="empty inbox" script={emptyScript()} panel={{ at: 'inbox' }}>
        <Inbox close={ignore} />
      </StateFrame>
      {['empty', 'names', 'command'].map((each) => (
        <StateFrame key={each} name={`message box ${each}`} script={conversation()} space={`box-${each}`}>
          <MessageBox help={ignore} />
        </StateFrame>
      ))}
      <StateFrame name="lanes" script={conversation()} isTall={true}>
        <Lanes {...view} />
      </StateFrame>
      <StateFrame name="trace" script={conversation()} isTall={true}>
        <Trace {...view} />
      </StateFrame>
      <StateFrame name="trace of two questions" script={conversation()} isTall={true}>
        <Trace {...view} />
        <Checked />
      </StateFrame>
      <StateFrame name="settings" script={emptyScript()}>
        <Opened dialog={({ close }) => <SettingsDialog showKeys={ignore} close={close} />} />
      </StateFrame>
      <StateFrame name="palette" script={conversation()}>
        <Opened
          dialog={({ close }) => (
            <Palette turn={ignore} toSearch={ignore} openDialog={ignore} close={close} />
          )}
        />
      </StateFrame>
    </main>
  )
}

const root = document.getElementById('root')
if (root === null) throw new Error('the page has no root')
render(<Components />, root)
