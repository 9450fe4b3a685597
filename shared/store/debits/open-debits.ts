import type { Debit } from '../../domain/debits/debit.ts'
import { isOpen, statuses } from '../../domain/debits/lifecycle.ts'
import type { Reference } from '../../domain/ids.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { keys } from '../keys.ts'
import { optimistically } from '../optimistic.ts'
import * as db from '../table.ts'
import { dueAt } from '../work-index.ts'
import { findDebit } from './debits.ts'

/** Debits in the list `open`: the sweep follows each of them in the work index until it ends. */

const openPlace = (provider: ProviderId, reference: Reference, due: Date) => {
  const place = dueAt(keys.debit(reference), due)
  return { ':list': keys.debits(provider, 'open'), ':work': place.work, ':due': place.due }
}

const UpdateExpression = 'SET byStatus = :list, #work = :work, due = :due'

/** Moves a debit from `main` to `open`, unless it has ended. The version stays: no status changes. */
export const followOpen = (debit: Debit, dueOf: (current: Debit) => Date): Promise<void> => {
  const { reference, provider } = debit.facts
  return optimistically(`Debit ${reference}`, async (race) => {
    const current = race === 1 ? debit : await findDebit(reference)
    if (!current || !isOpen(current.status)) return true
    const isMoved = await db.updateIf(keys.debit(reference), {
      UpdateExpression,
      ConditionExpression: '#status = :status AND #version = :version',
      ExpressionAttributeNames: { '#work': 'work', '#status': 'status', '#version': 'version' },
      ExpressionAttributeValues: {
        ...openPlace(provider, reference, dueOf(current)),
        ':status': current.status,
        ':version': current.version,
      },
    })
    return isMoved || undefined
  }).then(() => undefined)
}

const open = statuses.filter(isOpen)

/** Does the same with a debit that cannot be parsed. */
export const followUnreadable = async (provider: ProviderId, reference: Reference, due: Date) => {
  await db.updateIf(keys.debit(reference), {
    UpdateExpression,
    ConditionExpression: open.map((status) => `#status = :${status}`).join(' OR '),
    ExpressionAttributeNames: { '#work': 'work', '#status': 'status' },
    ExpressionAttributeValues: {
      ...openPlace(provider, reference, due),
      ...Object.fromEntries(open.map((status) => [`:${status}`, status])),
    },
  })
}
