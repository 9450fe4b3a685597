import { beforeEach, expect, test } from 'vitest'
import { newSteppedClock, type SteppedClock } from '../../../sandbox/aws/clock.ts'
import { noJournal } from '../../../sandbox/aws/journal.ts'
import { newScheduler, type Scheduler } from '../../../sandbox/aws/scheduler.ts'
import { rowsOf } from '../../support/rows.ts'

const DAY_MS = 86_400_000

let clock: SteppedClock
let scheduler: Scheduler
/** Time, queue and body of each message. */
let fired: string[] = []

beforeEach(() => {
  fired = []
  clock = newSteppedClock(Date.parse('2026-12-30T12:00:00.000Z'))
  scheduler = newScheduler({
    clock,
    firings: (at) => [at],
    deliver: (arn, body) => {
      fired.push(
        `${new Date(clock.now()).toISOString().slice(0, 16)} ${arn.split(':').at(-1)} ${body}`,
      )
    },
    journal: noJournal,
  })
})

const pass = (milliseconds: number): void => {
  const until = clock.now() + milliseconds
  while (clock.step(until));
}

const Target = { Arn: 'arn:aws:sqs:eu-west-1:000000000000:expiries', Input: '{"n":1}' }
const create = (ScheduleExpression: string, Name = 'one') =>
  scheduler.calls.CreateScheduleCommand({ Name, ScheduleExpression, Target })

const times = () => fired.map((line) => line.split(' ')[0])

test.each(
  rowsOf(`
    cron(0 0 * * ? *)         2026-12-31T00:00 2027-01-01T00:00 2027-01-02T00:00
    cron(20 0 * * ? *)        2026-12-31T00:20 2027-01-01T00:20 2027-01-02T00:20
    cron(0 1 * * ? *)         2026-12-31T01:00 2027-01-01T01:00 2027-01-02T01:00
    cron(0 0 1 * ? *)         2027-01-01T00:00
    cron(30 6 ? * FRI *)      2027-01-01T06:30
    rate(1440 minutes)        2026-12-31T12:00 2027-01-01T12:00 2027-01-02T12:00
    at(2026-12-31T00:05:00)   2026-12-31T00:05
  `),
)('the schedule %s fires at %s within three days', (expression, expected) => {
  create(expression ?? '')
  pass(3 * DAY_MS)
  expect(times()).toEqual(expected?.split(' '))
  expect(fired[0]).toContain(' expiries {"n":1}')
})

test('a one-time schedule is deleted when it fires, and its name can be reused', () => {
  create('at(2026-12-30T12:01:00)')
  create('cron(0 0 * * ? *)', 'nightly')
  expect(scheduler.names()).toEqual(['one', 'nightly'])
  pass(DAY_MS)
  expect(scheduler.names()).toEqual(['nightly'])
  create('at(2026-12-30T12:00:00)')
  // A past time fires at once.
  pass(0)
  expect(times().at(-1)).toBe('2026-12-31T12:00')
})

test('a name is refused until its schedule is deleted', () => {
  create('cron(0 0 * * ? *)')
  expect(() => create('cron(0 0 * * ? *)')).toThrow('already exists')
  scheduler.calls.DeleteScheduleCommand({ Name: 'one' })
  create('cron(0 0 * * ? *)')
  pass(DAY_MS)
  expect(fired).toHaveLength(1)
})
