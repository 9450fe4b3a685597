import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { recurring } from '../../infra/definitions/jobs.ts'
import { type Scheduler, startScheduler } from '../../sandbox/scheduler.ts'
import { rowsOf } from '../support/rows.ts'

let scheduler: Scheduler
/** Time, queue and body of each message. */
let fired: string[] = []

const arnOf = (queue: string) => `arn:aws:sqs:eu-west-1:000000000000:${queue}`

beforeEach(async () => {
  fired = []
  scheduler = await startScheduler(async (arn, body) => {
    fired.push(`${new Date().toISOString().slice(0, 16)} ${arn.split(':').at(-1)} ${body}`)
  })
})
afterEach(() => scheduler.stop())

describe('schedules', () => {
  const HOUR_MS = 3_600_000
  const DAY_MS = 24 * HOUR_MS

  // Leaves the timers of sockets real.
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
      now: new Date('2026-12-30T12:00:00.000Z'),
    })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const Target = { Arn: arnOf('queue'), Input: '{"n":1}' }
  const create = (ScheduleExpression: string, name = 'one') =>
    scheduler.create(name, { ScheduleExpression, Target })

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
  )('%s fires at %s within three days', async (expression, expected) => {
    create(expression ?? '')
    await vi.advanceTimersByTimeAsync(3 * DAY_MS)
    expect(times()).toEqual(expected?.split(' '))
    expect(fired[0]).toContain(' queue {"n":1}')
  })

  test('rate(1 minute) fires every minute', async () => {
    create('rate(1 minute)')
    await vi.advanceTimersByTimeAsync(HOUR_MS)
    expect(fired).toHaveLength(60)
    expect(times().slice(0, 2)).toEqual(['2026-12-30T12:01', '2026-12-30T12:02'])
  })

  test('a one-time schedule is deleted when it fires, and its name can be reused', async () => {
    create('at(2026-12-30T12:01:00)')
    create('cron(0 0 * * ? *)', 'nightly')
    expect(scheduler.pending()).toEqual(['one', 'nightly'])
    await vi.advanceTimersByTimeAsync(DAY_MS)
    expect(scheduler.pending()).toEqual(['nightly'])
    create('at(2026-12-30T12:00:00)')
    // A past time fires at once.
    await vi.advanceTimersByTimeAsync(1)
    expect(times().at(-1)).toBe('2026-12-31T12:00')
  })

  test('the recurring schedules start settlement runs and sweeps', async () => {
    for (const { name, queue, expression } of recurring) {
      const Target = { Arn: arnOf(queue), Input: '{}' }
      scheduler.create(name, { ScheduleExpression: expression, Target })
    }
    expect(scheduler.pending()).toEqual(recurring.map(({ name }) => name))
    await vi.advanceTimersByTimeAsync(DAY_MS)
    expect(fired.filter((line) => line.includes(' settlement-runs '))).toEqual(
      ['00:00', '00:20', '01:00'].map((at) => `2026-12-31T${at} settlement-runs {}`),
    )
    expect(fired.filter((line) => line.includes(' sweeps '))).toHaveLength(24 * 60)
  })
})

describe('the REST API', () => {
  const call = async (method: string, name: string, body?: unknown) => {
    const response = await fetch(`${scheduler.endpoint}/schedules/${name}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return [response.status, response.headers.get('x-amzn-errortype')]
  }
  const Target = { Arn: arnOf('queue'), Input: '{}' }
  const nightly = { ScheduleExpression: 'cron(0 0 * * ? *)', Target }

  test('creates, finds and deletes a schedule', async () => {
    expect(await call('POST', 'night', nightly)).toEqual([200, null])
    expect(await call('POST', 'night', nightly)).toEqual([409, 'ConflictException'])
    expect(await call('GET', 'night')).toEqual([200, null])
    expect(await call('DELETE', 'night')).toEqual([200, null])
    expect(await call('GET', 'night')).toEqual([404, 'ResourceNotFoundException'])
    expect(scheduler.pending()).toEqual([])
  })

  const invalid = [400, 'ValidationException']

  test.each([
    'every night',
    'rate(0 minutes)',
    'rate(1 fortnight)',
    'cron(0 0 * * *)',
    'cron(61 0 * * ? *)',
    'cron(0 24 * * ? *)',
    'at(tomorrow)',
  ])('rejects the expression %s', async (ScheduleExpression) => {
    expect(await call('POST', 'wrong', { ...nightly, ScheduleExpression })).toEqual(invalid)
    expect(scheduler.pending()).toEqual([])
  })

  test('rejects a schedule without a target', async () => {
    const { ScheduleExpression } = nightly
    expect(await call('POST', 'wrong', { ScheduleExpression })).toEqual(invalid)
  })
})
