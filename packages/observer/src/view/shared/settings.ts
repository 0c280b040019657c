import { useEffect, useReducer } from 'preact/hooks'
import { loadSetting, saveSetting } from '../../connect/storage.js'

/** Settings that are stored in this browser, with their defaults. */
const defaults = {
  theme: 'auto',
  /** `compact` reduces text size and gaps. */
  density: 'comfortable',
  /** `h12`: times such as 7:45 pm. */
  clock: 'h23',
  /** Whether Enter sends the message; otherwise it starts a new line. */
  enter: 'on',
  /** Whether single letters are shortcuts. */
  keys: 'on',
  /** Events that cause a notification while the page is hidden. */
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

/** Value of a setting; redraws the component when a setting changes. */
export function useSetting(name: SettingName): string {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  useEffect(() => {
    const onChange = (): void => redraw()
    listeners.add(onChange)
    return () => void listeners.delete(onChange)
  }, [])
  return getSetting(name)
}
