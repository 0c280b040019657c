import type { VNode } from 'preact'
import { useNotifications } from './decide/notifications.js'
import { CloseDialog, Dialog } from './shared/dialog.js'
import { Checkbox } from './shared/parts.js'
import { Select } from './shared/select.js'
import { type SettingName, setSetting, useSetting } from './shared/settings.js'
import '../style/dialogs.css'

const choices = {
  theme: {
    label: 'Theme',
    options: [
      ['auto', 'as the system'],
      ['light', 'light'],
      ['dark', 'dark'],
    ],
  },
  density: {
    label: 'Density',
    options: [
      ['comfortable', 'comfortable'],
      ['compact', 'compact'],
    ],
  },
  clock: {
    label: 'Time',
    options: [
      ['h23', '19:45'],
      ['h12', '7:45 pm'],
    ],
  },
} as const

const switches = [
  ['enter', 'Enter sends, Shift+Enter begins a line; off: Ctrl+Enter sends'],
  ['keys', 'Use single letters as keys'],
] as const

const notifications = [
  ['notify-decision', 'something waits for my decision'],
  ['notify-answer', 'a question of mine is answered'],
  ['notify-mention', 'a message mentions me'],
  ['notify-failure', 'a run fails'],
] as const

/** The dialog with settings that are stored in this browser. */
export function SettingsDialog({ showKeys, close }: { showKeys: () => void; close: () => void }): VNode {
  const { state, ask } = useNotifications()
  return (
    <Dialog label="Settings" kind="settings-dialog" close={close}>
      <h2>Settings</h2>
      <p class="dim">For this browser.</p>
      {(Object.keys(choices) as (keyof typeof choices)[]).map((name) => (
        <Choice key={name} name={name} />
      ))}
      {switches.map(([name, label]) => (
        <Switch key={name} name={name} label={label} />
      ))}
      <fieldset>
        <legend>Notify me, while the page is not in view, when</legend>
        {state === 'granted' ? (
          notifications.map(([name, label]) => <Switch key={name} name={name} label={label} />)
        ) : state === 'default' ? (
          <button type="button" onClick={ask}>
            Let the browser notify me
          </button>
        ) : (
          <p class="dim">The browser does not let this page notify you.</p>
        )}
      </fieldset>
      <p class="decision">
        <button type="button" onClick={showKeys}>
          All keys <kbd>?</kbd>
        </button>
        <CloseDialog />
      </p>
    </Dialog>
  )
}

function Choice({ name }: { name: keyof typeof choices }): VNode {
  const value = useSetting(name)
  return <Select {...choices[name]} name={name} value={value} set={(next) => setSetting(name, next)} />
}

function Switch({ name, label }: { name: SettingName; label: string }): VNode {
  const value = useSetting(name)
  return (
    <Checkbox checked={value === 'on'} set={(isOn) => setSetting(name, isOn ? 'on' : 'off')}>
      {label}
    </Checkbox>
  )
}
