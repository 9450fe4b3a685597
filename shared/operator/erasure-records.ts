import { ERASURE_DAYS } from '../domain/operator/restore.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import { type Day, dayAfter, dayOf, startOf } from '../domain/time.ts'
import type { Runtime } from '../runtime.ts'
import { openReport, putNew, writeReport } from '../settlement/report/bucket.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { type SecretOwner, seal, unseal } from '../store/sealing.ts'
import type { Span } from '../store/table.ts'
import type { ResealResult } from '../views/operator/secret.ts'

/**
 * Erasures, with their sealed phone numbers, in the bucket: a restored table has the customers again, and
 * no record of their erasure. The objects outlive every backup from which it can be restored.
 */

const OWNER: SecretOwner = { kind: 'customerHash', id: 'erasures' }

type StoredErasure = { at: string; phone: string }

const sealed = async (phone: PhoneNumber, at: Date, runtime: Pick<Runtime, 'randomBytes'>) => {
  const stored = { at: at.toISOString(), phone: await seal(phone, OWNER, runtime) }
  return JSON.stringify(stored satisfies StoredErasure)
}

/** Stores an erasure under the next number of its day, so that no reader lists the bucket. */
export const recordErasure = async (
  phone: PhoneNumber,
  runtime: Pick<Runtime, 'now' | 'randomBytes'>,
): Promise<void> => {
  const at = runtime.now()
  const text = await sealed(phone, at, runtime)
  for (let n = 0; ; n += 1) {
    if (await putNew({ erasure: `${dayOf(at)}/${n}` }, text)) return
  }
}

const DAYS_AT_ONCE = 16

/** `phone` is undefined if no version of the sealing key opens it. */
type ErasureRecord = { at: Date; phone: PhoneNumber | undefined }

/** Yields the erasures of a day with their numbers. */
async function* erasuresOf(day: Day): AsyncGenerator<ErasureRecord & { n: number }> {
  for (let n = 0; ; n += 1) {
    const body = await openReport({ erasure: `${day}/${n}` }, 'json')
    if (!body) return
    const text = Buffer.concat(await body.toArray()).toString()
    const { at, phone } = JSON.parse(text) as StoredErasure
    yield { n, at: new Date(at), phone: (await unseal(phone, OWNER)) as PhoneNumber | undefined }
  }
}

/** Yields the erasures of a span of time, oldest first. Concurrent calls number them in any order. */
export async function* erasuresWithin({ from, before }: Span): AsyncGenerator<ErasureRecord> {
  for (let day = dayOf(from); startOf(day) < before; day = dayAfter(day)) {
    const records = await Array.fromAsync(erasuresOf(day))
    yield* records
      .filter(({ at }) => at >= from && at < before)
      .sort((one, other) => one.at.getTime() - other.at.getTime())
  }
}

/** Seals the numbers again with the current key. An unreadable one stays, because its key may return. */
export const resealErasures = async (
  onUnreadable: (owner: SecretOwner) => void,
  runtime: Pick<Runtime, 'now' | 'randomBytes'>,
): Promise<ResealResult> => {
  const today = dayOf(runtime.now())
  const days = Array.from({ length: ERASURE_DAYS + 1 }, (_, back) => dayAfter(today, -back))
  const counts = { resealed: 0, unreadable: 0 }
  await mapConcurrent(days, DAYS_AT_ONCE, async (day) => {
    for await (const { n, at, phone } of erasuresOf(day)) {
      counts[phone === undefined ? 'unreadable' : 'resealed'] += 1
      if (phone === undefined) onUnreadable(OWNER)
      else await writeReport({ erasure: `${day}/${n}` }, 'json', [await sealed(phone, at, runtime)])
    }
  })
  return counts
}
