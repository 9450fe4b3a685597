import type { Row, Rows } from './row.ts'

/** Charges that meet, beside the same where none is cancelled for it. */

const MEETING_NONE = { none: 'a queue at one item is as long as it is; none may fail in it' }
const WAITS_SHORTER = { atMost: 12_000 }

const meetings = (['steady', 'burst'] as const).flatMap((kind) => {
  const how = kind === 'steady' ? 'at 1,000 a minute' : '100 at once'
  const row = { part: 'conflicts', base: 'the same, none cancelled', unit: 'ms' } as const
  return [
    [`conflicts ${kind} p50`, { ...row, what: `charge, p50, ${how}`, target: MEETING_NONE }],
    [`conflicts ${kind} p99`, { ...row, what: `charge, p99, ${how}`, target: MEETING_NONE }],
    [
      `conflicts ${kind} slowest`,
      { ...row, what: `charge, slowest, ${how}`, target: WAITS_SHORTER },
    ],
    [
      `conflicts ${kind} retries`,
      {
        part: 'conflicts',
        what: `tries more than one of a charge, ${how}`,
        unit: 'times',
        target: MEETING_NONE,
      },
    ],
  ] as [string, Row][]
})

export const conflicts: Rows = {
  ...Object.fromEntries(meetings),
  'conflicts failed': {
    part: 'conflicts',
    what: 'charges that failed, of all of the above',
    unit: 'times',
    target: { atMost: 0 },
  },
  'conflicts limit': {
    part: 'conflicts',
    what: 'charges over or under a day’s limit, of 100 at once',
    unit: 'times',
    target: { atMost: 0 },
  },
}
