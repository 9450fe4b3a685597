import type { PhoneNumber } from '../domain/phone.ts'
import { dayAfter, dayOf, startOf } from '../domain/time.ts'
import type { Runtime } from '../runtime.ts'
import { openReport, putNew } from '../settlement/report/bucket.ts'
import { type SecretOwner, seal, unseal } from '../store/sealing.ts'
import type { Span } from '../store/table.ts'

/**
 * Erasures, with their sealed phone numbers, in the bucket: a restored table has the customers again, and
 * no record of their erasure. The objects live as long as a table without the erasure can be restored.
 */

const OWNER: SecretOwner = { kind: 'customerHash', id: 'erasures' }

type StoredErasure = { at: string; phone: string }

/** Stores an erasure under the next number of its day, so that no reader lists the bucket. */
export const recordErasure = async (
  phone: PhoneNumber,
  at: Date,
  runtime: Pick<Runtime, 'randomBytes'>,
): Promise<void> => {
  const stored: StoredErasure = { at: at.toISOString(), phone: await seal(phone, OWNER, runtime) }
  for (let n = 0; ; n += 1) {
    if (await putNew({ erasure: `${dayOf(at)}/${n}` }, JSON.stringify(stored))) return
  }
}

/** `phone` is undefined if no version of the sealing key opens it. */
export type ErasureRecord = { at: Date; phone: PhoneNumber | undefined }

/** Yields the erasures of a span of time, by day. */
export async function* erasuresWithin({ from, before }: Span): AsyncGenerator<ErasureRecord> {
  for (let day = dayOf(from); startOf(day) < before; day = dayAfter(day)) {
    for (let n = 0; ; n += 1) {
      const body = await openReport({ erasure: `${day}/${n}` }, 'json')
      if (!body) break
      const { at, phone } = JSON.parse(
        Buffer.concat(await body.toArray()).toString(),
      ) as StoredErasure
      const time = new Date(at)
      if (time < from || time >= before) continue
      yield { at: time, phone: (await unseal(phone, OWNER)) as PhoneNumber | undefined }
    }
  }
}
