import type * as v from 'valibot'
import { formatAmount } from '../../shared/domain/money.ts'
import { callObject } from '../../shared/domain/operator/approval.ts'
import { invalid, Refusal, unlessRefused } from '../../shared/domain/refusal.ts'
import {
  type Funding,
  fundingAmount,
  isSameFunding,
} from '../../shared/domain/settlement/funding.ts'
import { dayOf, startOf } from '../../shared/domain/time.ts'
import { type Author, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { funding } from '../../shared/operator/nouns/accounting.ts'
import { pageOf } from '../../shared/operator/pages.ts'
import { payBatchMessage } from '../../shared/queues/outbox.ts'
import { sendAllOrThrow } from '../../shared/queues/send.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { sha256 } from '../../shared/store/keys.ts'
import { changeWrites } from '../../shared/store/operator/changes.ts'
import { findBatches, listPayable } from '../../shared/store/settlement/batches.ts'
import {
  correctFunding,
  findFunding,
  listFundings,
  putFunding,
} from '../../shared/store/settlement/funding.ts'
import { fundingView } from '../../shared/views/operator/funding.ts'

/** Retries due payouts at once instead of in the next night. */
const payWaiting = async ({ now }: Runtime): Promise<void> => {
  if (!environment.payoutsWaitForFunding) return
  const due = await findBatches(await listPayable(startOf(dayOf(now()))))
  await sendAllOrThrow(due.map(({ id, provider }) => payBatchMessage(id, provider)))
}

/** Omits the approval: its request ends after the messages, so that a repeated grant sends them. */
const recordingOf = (
  { approval: _, ...author }: Author,
  { reference: target, bank }: Pick<Funding, 'reference' | 'bank'>,
) => ({ ...author, target, bank })

type Remittance = v.InferOutput<typeof funding.verbs.record.options>

const checkRemittance = async ({ bank, date }: Remittance, { at }: Author) => {
  if (!(await findBank(bank))) return noSuch('bank')
  return environment.limits === 'production' && date > dayOf(at)
    ? invalid({ date: ['must not be in the future'] })
    : undefined
}

const otherFunding = (recorded: Funding): Refusal => {
  const { bank, reference, date } = recorded
  const amount = formatAmount(fundingAmount(recorded))
  return new Refusal(1409, {
    details: `${bank} ${reference} is recorded with ${amount} on ${date}`,
  })
}

type CorrectOptions = v.InferOutput<typeof funding.verbs.correct.options>

/** Two banks may have the same reference. */
const findRemittance = async ({ reference, bank }: CorrectOptions): Promise<Funding | Refusal> => {
  const found = (await listFundings(bank)).filter((funding) => funding.reference === reference)
  if (found.length > 1) return invalid({ bank: ['is required: two banks have this reference'] })
  return found[0] ?? noSuch('remittance')
}

/** Leaves a remittance with this amount unchanged: a repeated call only retries the payouts. */
const correct = async (options: CorrectOptions, author: Author, runtime: Runtime) => {
  const recorded = await findRemittance(options)
  if (recorded instanceof Refusal) return recorded
  const { amount, reason } = options
  const previous = fundingAmount(recorded)
  if (previous === amount) {
    await payWaiting(runtime)
    return fundingView(recorded)
  }
  const { corrections = [] } = recorded
  const correction = { amount, reason, at: author.at.toISOString(), by: author.by }
  const record = changeWrites(
    recordingOf(author, recorded),
    { amount: formatAmount(previous) },
    { amount: formatAmount(amount), reason },
  )
  if (!(await correctFunding(recorded, correction, record, runtime))) {
    return correct(options, author, runtime)
  }
  await payWaiting(runtime)
  return fundingView({ ...recorded, corrections: [...corrections, correction] })
}

/** A cursor has no room for a bank's reference, which can be any text. */
const keyOf = ({ date, recordedAt, bank, reference }: Funding): string =>
  `${date}#${recordedAt.toISOString()}#${sha256(`${bank} ${reference}`).slice(0, 22)}`

export const manageFunding = operatorHandler(funding, {
  record: {
    run: async (options, author, runtime) => {
      const refusal = await checkRemittance(options, author)
      if (refusal) return refusal
      const { bank, amount, reference, date } = options
      const { at, by } = author
      const funding: Funding = { bank, reference, amount, date, recordedAt: at, recordedBy: by }
      const changed = { amount: formatAmount(amount), date }
      const record = changeWrites(recordingOf(author, funding), {}, changed)
      await putFunding(funding, record, runtime)
      const recorded = await findFunding(bank, reference)
      if (!recorded) throw new Error(`The funding ${reference} of ${bank} is gone`)
      if (!isSameFunding(recorded, funding)) return otherFunding(recorded)
      await payWaiting(runtime)
      return fundingView(recorded)
    },
    check: async (options, author) => {
      const refusal = await checkRemittance(options, author)
      if (refusal) return refusal
      const recorded = await findFunding(options.bank, options.reference)
      return recorded && !isSameFunding(recorded, options)
        ? otherFunding(recorded)
        : callObject(options)
    },
  },
  correct: {
    run: correct,
    check: async (options) =>
      unlessRefused(await findRemittance(options), ({ bank }) =>
        callObject({ amount: options.amount, bank }),
      ),
  },
  list: async (options, _, runtime) => {
    if (options.bank && !(await findBank(options.bank))) return noSuch('bank')
    return pageOf('funding list', options, runtime, {
      read: async function* ({ from, before }) {
        const fundings = await listFundings(options.bank)
        yield fundings
          .map((funding) => ({ key: keyOf(funding), funding }))
          .filter(({ key }) => key >= from && key <= before)
          .sort((one, other) => (one.key < other.key ? 1 : -1))
      },
      keyOf: ({ key }) => key,
      viewOf: ({ funding }) => fundingView(funding),
    })
  },
})

export const handler = manageFunding(real)
