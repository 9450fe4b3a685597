import { cursorFor, listHash, positionIn } from '../../shared/api/pagination.ts'
import { failureCode } from '../../shared/domain/banks/failure-code.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import { isOpen } from '../../shared/domain/debits/lifecycle.ts'
import { callObject } from '../../shared/domain/operator/approval.ts'
import { Refusal, unlessRefused } from '../../shared/domain/refusal.ts'
import { dayAfter, startOf } from '../../shared/domain/time.ts'
import { logUnreadable } from '../../shared/log.ts'
import { ListPage, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { debit as noun } from '../../shared/operator/nouns/debits.ts'
import {
  failOpenRefund,
  findOpenDebit,
  findOpenRefund,
  findReversible,
  noSuchDebit,
  reverseDebit,
  transitionBy,
} from '../../shared/operator/transitions.ts'
import { real, timeLimit } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { findAttached } from '../../shared/store/debits/attached.ts'
import { searchDebits } from '../../shared/store/debits/debit-search.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { findExceptions } from '../../shared/store/debits/exceptions.ts'
import { putChange } from '../../shared/store/operator/changes.ts'
import { findProvider } from '../../shared/store/providers/providers.ts'
import { repairDay } from '../../shared/sweep/day.ts'
import { debitSummaryView, operatorDebitView as view } from '../../shared/views/operator/debit.ts'

/** The part of the function's fifteen minutes that a search uses. */
const WORK_MS = 780_000

const shown = async (result: Debit | Refusal) => {
  if (result instanceof Refusal) return result
  const [attached, exceptions] = await Promise.all([
    findAttached(result),
    findExceptions(result.facts.reference),
  ])
  return view(result, { ...attached, exceptions })
}

const objectOf = ({ facts: { amount, provider, bank } }: Debit) =>
  callObject({ amount, provider, bank: bank.identifier })

export const manageDebit = operatorHandler(noun, {
  show: async ({ reference }) => {
    const debit = await findDebit(reference)
    return shown(debit ?? noSuchDebit())
  },
  list: async (options, _, runtime) => {
    const { cursor, limit, from, to, ...others } = options
    const {
      'bank-reference': bankReference,
      'partner-reference': partnerReference,
      ...rest
    } = others
    const { provider, bank } = rest
    if (provider && !(await findProvider(provider))) return noSuch('provider')
    if (bank && !(await findBank(bank))) return noSuch('bank')
    const filter = {
      ...rest,
      bankReference,
      partnerReference,
      from: from && startOf(from),
      to: to && startOf(dayAfter(to)),
    }
    const list = listHash('debit list', '', filter)
    const before = positionIn(list, cursor)
    if (before instanceof Refusal) return before
    const request = { before, limit, timeIsUp: timeLimit(runtime, WORK_MS) }
    const { debits, next } = await searchDebits(filter, request, logUnreadable('manage-debit'))
    return new ListPage(
      debits.map(debitSummaryView),
      next === null ? undefined : cursorFor(list, next),
    )
  },
  reverse: {
    run: async (options, author, runtime) => shown(await reverseDebit(options, author, runtime)),
    check: async (options) => unlessRefused(await findReversible(options), objectOf),
  },
  /** Records an outcome that the bank reported outside the API, like its report. */
  complete: {
    run: async ({ reference, 'bank-reference': bankReference, reason }, author, runtime) => {
      const changes = { bankReference, metadata: { completion_reason: reason } }
      const record = { bank_reference: bankReference, completion_reason: reason }
      const request = { reference, to: 'completed', changes, record } as const
      return shown(await transitionBy({ ...request, isAllowedFrom: isOpen }, author, runtime))
    },
    check: async ({ reference }) =>
      unlessRefused(await findOpenDebit(reference, 'completed'), objectOf),
  },
  fail: {
    run: async ({ reference, 'bank-reference': bankReference, reason }, author, runtime) => {
      const changes = { bankReference, errorMessage: reason, errorCode: failureCode(reason) }
      const record = { bank_reference: bankReference, error_message: reason }
      const request = { reference, to: 'failed', changes, record } as const
      return shown(await transitionBy({ ...request, isAllowedFrom: isOpen }, author, runtime))
    },
    check: async ({ reference }) =>
      unlessRefused(await findOpenDebit(reference, 'failed'), objectOf),
  },
  'fail-refund': {
    run: async (options, author, runtime) => {
      const refund = await failOpenRefund(options, author, runtime)
      if (refund instanceof Refusal) return refund
      return shown((await findDebit(options.reference)) ?? noSuchDebit())
    },
    check: async ({ reference }, { at }) =>
      unlessRefused(await findOpenRefund(reference, at), callObject),
  },
  repair: async ({ provider, date, cursor }, author, runtime) => {
    if (!(await findProvider(provider))) return noSuch('provider')
    const list = listHash('debit repair', '', { provider, date })
    const after = positionIn(list, cursor)
    if (after instanceof Refusal) return after
    await putChange({ ...author, target: provider, provider }, { date })
    const day = await repairDay({ provider, date, after }, runtime)
    const { lookedAt, repaired, unreadable, isDone, next } = day
    return new ListPage(
      { provider, date, looked_at: lookedAt, repaired, unreadable, is_done: isDone },
      next && cursorFor(list, next),
    )
  },
})

export const handler = manageDebit(real)
