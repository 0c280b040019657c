import { useEffect, useReducer } from 'preact/hooks'
import { loadSetting, saveSetting } from '../../connect/storage.js'

/** The reader's settings in this browser, with their defaults. */
const defaults = {
  theme: 'auto',
  /** `compact`: smaller text and gaps. */
  density: 'comfortable',
  /** `h12`: 7:45 pm. */
  clock: 'h23',
  /** Whether Enter sends a message, or begins a line of it. */
  enter: 'on',
  /** Whether single letters are keys of the page. */
  keys: 'on',
  /** Reasons for notifications while the page is hidden. */
  'notify-decision': 'on',
  'notify-answer': 'on',
  'notify-mention': 'on',
  'notify-failure': 'on',
}
export type SettingName = keyof typeof defaults

export const getSetting = (name: SettingName): string => loadSetting(`meup-${name}`) ?? defaults[name]

const listeners = new Set<() => void>()

export function setSetting(name: SettingName, value: string): void {
  saveSetting(`meup-${name}`, value)
  for (const listener of listeners) listener()
}

/** The value of a setting; the component is drawn again when any setting changes. */
export function useSetting(name: SettingName): string {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  useEffect(() => {
    const onChange = (): void => redraw()
    listeners.add(onChange)
    return () => void listeners.delete(onChange)
  }, [])
  return getSetting(name)
}
