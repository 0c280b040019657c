import { afterAll, beforeAll } from 'vitest'

/** Runs the tests of a file in the time zone of Berlin. */
export function useBerlinTime(): void {
  const zone = process.env.TZ
  beforeAll(() => {
    process.env.TZ = 'Europe/Berlin'
  })
  afterAll(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })
}
