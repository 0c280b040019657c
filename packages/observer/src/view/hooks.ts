import { useEffect, useState } from 'preact/hooks'

/** Milliseconds since 1970, told again every so many milliseconds while it is needed. */
export function useNow(isNeeded: boolean, everyMs = 1000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!isNeeded) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [isNeeded, everyMs])
  return now
}

/** A value that is kept in this browser. */
export function useKept(name: string, otherwise: string): [string, (value: string) => void] {
  const [value, setValue] = useState(() => localStorage.getItem(name) ?? otherwise)
  const keep = (next: string): void => {
    localStorage.setItem(name, next)
    setValue(next)
  }
  return [value, keep]
}
