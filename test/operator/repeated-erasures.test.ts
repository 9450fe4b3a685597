import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test, vi } from 'vitest'
import { functionRows } from '../../infra/definitions/functions.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import { eraseCustomer } from '../../shared/operator/customer-erasure.ts'
import { refusalToRepeat, repeatErasures } from '../../shared/operator/repeated-erasures.ts'
import { explain } from '../../shared/operator/verbs.ts'
import { changeRestore } from '../../shared/store/operator/restores.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { useReportShelf } from '../settlement/report-shelf.ts'
import { inSeconds, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { useFreshTable } from '../support/tables.ts'

/** Erasures whose repeats take several calls. */

const objects = useReportShelf()

beforeEach(async () => {
  vi.stubEnv('SEALING_KEY', 'a key of this test')
  objects.clear()
  await useFreshTable()
})

const authorAt = (at: Date, verb: string) => ({
  ...{ id: randomUUID(), by: 'local:ama', noun: 'customer' },
  ...{ at, verb },
})

/** Erases customers, one each second. */
const eraseCustomers = async (count: number, from = 0): Promise<void> => {
  for (let second = 0; second < count; second += 1) {
    const [at, phone] = [inSeconds(from + second), `+23324766600${second}` as PhoneNumber]
    const author = authorAt(at, 'erase')
    granted(await eraseCustomer({ phone, reason: 'Request' }, author, still({ now: () => at })))
  }
}

const BEGUN = 3_600

const begin = async (): Promise<void> => {
  const by = 'local:ama'
  const restore = { generation: 2, begunAt: inSeconds(BEGUN), by, released: [], releasedAt: null }
  await changeRestore(() => restore, noWrites, still())
}

const repeat = async (since: Date, second: number, secondsPerLook = 0) => {
  const start = inSeconds(BEGUN + second)
  let looks = 0
  const now = () => new Date(start.getTime() + 1000 * secondsPerLook * looks++)
  const author = authorAt(start, 'repeat-erasures')
  return granted(await repeatErasures({ since }, author, still({ now })))
}

test('each call repeats the erasures before the restore alone, none of an earlier call', async () => {
  await eraseCustomers(2)
  await begin()
  for (const second of [60, 120])
    expect(await repeat(inSeconds(0), second)).toMatchObject({ repeated: 2, next: null })
})

test.each([BEGUN, 3])(
  'the calls that each repeat one of three erasures since %d seconds before the restore end after the third',
  async (earlier) => {
    const first = BEGUN - earlier
    await eraseCustomers(3, first)
    await begin()
    const times: Date[] = []
    let since: Date | undefined = inSeconds(first)
    while (since && times.length < 9) {
      times.push(since)
      // The time of a call is up when it looks at the clock for the second time.
      const { repeated, next }: { repeated: number; next: string | null } = await repeat(
        since,
        600 * times.length,
        11,
      )
      expect(repeated).toBe(1)
      since = next === null ? undefined : new Date(next)
    }
    expect(times).toHaveLength(3)
  },
)

test('an erasure whose call could still write after the restored second is repeated', async () => {
  await eraseCustomers(1)
  await begin()
  const timeout = Number(
    functionRows.find(({ name }) => name === 'manage-customer')?.timeoutSeconds,
  )
  for (const [second, repeated] of [
    [timeout, 1],
    [timeout + 1, 0],
  ] as const)
    expect(await repeat(inSeconds(second), 60)).toMatchObject({ repeated })
})

const SOON = '--since: must be less than a minute after the restore began'

test.each([
  ['400 days before the call', '2025-10-17T13:00:00.000Z', undefined],
  ['over 400 days before it', '2025-10-17T12:59:59.999Z', '--since: must be within 400 days'],
  ['under a minute after the restore began', '2026-11-21T13:00:59.999Z', undefined],
  ['a minute after that', '2026-11-21T13:01:00.000Z', SOON],
  ['a later century', '9999-12-31T00:00:00.000Z', SOON],
])('a repeat since %s, %s, has the refusal %s', async (_, since, refusal) => {
  await begin()
  const refused = await refusalToRepeat({ since: new Date(since) }, { at: inSeconds(BEGUN) })
  expect(refused && explain(refused)).toBe(refusal)
})
