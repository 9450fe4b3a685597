import * as v from 'valibot'
import { cursorFor, fitting, listHash, positionIn } from '../../shared/api/pagination.ts'
import {
  type ExceptionKind,
  exceptionStatuses,
  type ReportException,
  rowOf,
} from '../../shared/domain/debits/exception.ts'
import { refundStatuses } from '../../shared/domain/debits/refund.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import { parseJson } from '../../shared/domain/json.ts'
import { formatAmount } from '../../shared/domain/money.ts'
import { callObject } from '../../shared/domain/operator/approval.ts'
import {
  type BulkId,
  type BulkOutcome,
  type BulkScope,
  bulkResult,
} from '../../shared/domain/operator/bulk.ts'
import { NO_CURSOR } from '../../shared/domain/page.ts'
import { invalid, Refusal } from '../../shared/domain/refusal.ts'
import {
  Day,
  dayAfter,
  dayOf,
  END_OF_TIME,
  newestFirst,
  spanOfMonth,
  startOf,
} from '../../shared/domain/time.ts'
import {
  done,
  type Once,
  PartRows,
  refused,
  runBulk,
  scopeOf,
  skipped,
  storeSelection,
  uploadReferences,
} from '../../shared/operator/bulk.ts'
import { type Author, ListPage, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { exception as noun } from '../../shared/operator/nouns/debits.ts'
import { pageOf } from '../../shared/operator/pages.ts'
import { summarizeRequests } from '../../shared/operator/requests-summary.ts'
import {
  listMatching,
  planRefund,
  type RefundRequest,
  refundDebit,
  resolveExceptions,
} from '../../shared/operator/resolutions.ts'
import { noSuchDebit } from '../../shared/operator/transitions.ts'
import { explain } from '../../shared/operator/verbs.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { exceptionPages, findExceptions, listKeyOf } from '../../shared/store/debits/exceptions.ts'
import { findRefund } from '../../shared/store/debits/refunds.ts'
import { mergeSorted } from '../../shared/store/merge-sorted.ts'
import { refusalOfDay } from '../../shared/store/retention.ts'
import { exceptionView as view } from '../../shared/views/operator/exception.ts'
import { refundView } from '../../shared/views/refund.ts'

type RefundOptions = v.InferOutput<typeof noun.verbs.refund.options>
type ResolveOptions = v.InferOutput<typeof noun.verbs.resolve.options>

const REQUEST: ExceptionKind = 'reversal_request'

/** Shows the exceptions of a debit, newest first, as many as a reply has room for. */
const viewAll = (exceptions: ReportException[]) => fitting(exceptions.sort(newestFirst).map(view))

const show = async (reference: Reference) => {
  const exceptions = await findExceptions(reference)
  return exceptions.length > 0 ? viewAll(exceptions) : noSuch('exception')
}

/** Refuses the request for approval of an empty selection. Without approvals, the call has nothing to do. */
class NothingOpen extends Refusal {
  constructor() {
    super(1404, { details: 'no such open exception in these days' })
  }
}

/** Returns the span of a call's days, which for a granted call ends with the millisecond of its request. */
const spanOf = ({ from, to }: ResolveOptions | RefundOptions, { scope }: Author) => {
  const before = to ? startOf(dayAfter(to)) : END_OF_TIME
  const until = scope ? new Date(scope.requestedAt.getTime() + 1) : before
  return { from: from ? startOf(from) : new Date(0), before: until < before ? until : before }
}

/** Stores the references of the open exceptions that a call selects. */
const select = async (options: ResolveOptions | RefundOptions, author: Author) => {
  const { kind, bank, from, to } = options
  if (!bank || !from || !to) return invalid({ file: ['is uploaded by the operator command'] })
  if (!(await findBank(bank))) return noSuch('bank')
  const amounts = new Map<Reference, number>()
  for await (const page of exceptionPages('open', spanOf(options, author))) {
    for (const one of page) {
      if (one.kind === kind && one.bank === bank) amounts.set(one.reference, one.amount)
    }
  }
  return amounts.size === 0 ? new NothingOpen() : storeSelection(amounts, author)
}

/**
 * Returns the debits of a call about many. An upload belongs to a file only: the operator who approves a
 * selection must get that selection.
 */
const scopeOfMany = async (
  options: ResolveOptions | RefundOptions,
  author: Author,
): Promise<BulkScope | Refusal> => {
  const bulk = (options.file ? options.bulk : undefined) ?? (await select(options, author))
  return bulk instanceof Refusal ? bulk : scopeOf(bulk)
}

const scope = async (options: ResolveOptions | RefundOptions, author: Author) =>
  options.reference ? undefined : scopeOfMany(options, author)

type PerformOne = Parameters<typeof runBulk>[1]

const run = async (
  options: ResolveOptions | RefundOptions,
  perform: PerformOne,
  author: Author,
  runtime: Runtime,
) => {
  const { bulk } = options
  const objects = author.scope ?? (await (bulk ? scopeOf(bulk) : scopeOfMany(options, author)))
  if (objects instanceof NothingOpen) return bulkResult(new Map())
  return objects instanceof Refusal ? objects : runBulk(objects, perform, author, runtime)
}

const refundOne = async (
  request: RefundRequest,
  author: Author,
  runtime: Runtime,
  once: Once,
): Promise<BulkOutcome> => {
  const result = await refundDebit(request, author, runtime, once)
  if (!(result instanceof Refusal)) return done
  const current = await findRefund(request.reference)
  if (!current || refundStatuses[current.status].mayRetry) return refused(result)
  // The reason of a conflict names a report that needs a look.
  return skipped(result.code === 1409 ? explain(result) : `its refund is ${current.status}`)
}

/** Rejects a kind that no refund belongs to, before an operator has to approve it. */
const checkRefund = async (
  { reference, file: _, bank, ...request }: RefundOptions,
  author: Author,
) => {
  const { kind } = request
  if (kind && rowOf(kind)?.refund === 'none') return invalid({ kind: ['allows no refund'] })
  if (!reference) return callObject({ bank })
  const plan = await planRefund({ reference, ...request }, author)
  if (plan instanceof Refusal) return plan
  const { amount, provider, bank: payer } = plan.requested ?? plan.next
  return callObject({ amount, provider, bank: payer })
}

export const manageException = operatorHandler(noun, {
  /** Lists the newest exceptions; of requests the oldest, which need a decision first. */
  list: async (options, _, runtime) => {
    const { status, kind } = options
    const isOldestFirst = kind === REQUEST
    const statuses = status ? [status] : exceptionStatuses
    return pageOf('exception list', options, runtime, {
      read: (span) => {
        const lists = statuses.map((status) => exceptionPages(status, span, isOldestFirst))
        return mergeSorted(lists, { keyOf: listKeyOf, isDescending: !isOldestFirst, ahead: 1 })
      },
      keyOf: listKeyOf,
      viewOf: (exception) =>
        kind === undefined || exception.kind === kind ? view(exception) : undefined,
      isOldestFirst,
    })
  },
  summary: async ({ month, cursor }, _, runtime) => {
    const first = dayOf(spanOfMonth(month).from)
    const list = listHash('exception summary', '', { month })
    const position =
      refusalOfDay('month', first, runtime.now()) ?? positionIn(list, cursor) ?? first
    if (position instanceof Refusal) return position
    const day = v.safeParse(Day, position)
    if (!day.success) return invalid({ cursor: [NO_CURSOR] })
    const { summary, next } = await summarizeRequests(month, day.output, runtime)
    return new ListPage(summary, next && cursorFor(list, next))
  },
  show: async ({ reference }) => {
    const shown = await show(reference)
    if (!(shown instanceof Refusal)) return shown
    return (await findDebit(reference)) ? [] : noSuchDebit()
  },
  refund: {
    run: async (options, author, runtime) => {
      const { reference, kind, reason, 'despite-note': despite } = options
      const request = { kind, reason, 'despite-note': despite }
      if (!reference) {
        const perform: PerformOne = (reference, author, once) =>
          refundOne({ reference, ...request }, author, runtime, once)
        const checked = await checkRefund(options, author)
        return checked instanceof Refusal ? checked : run(options, perform, author, runtime)
      }
      const refund = await refundDebit({ reference, ...request }, author, runtime)
      if (refund instanceof Refusal) return refund
      return { reference, refund: refundView(refund, formatAmount) }
    },
    check: checkRefund,
    scope,
  },
  resolve: {
    /** One resolution covers all selected exceptions of a debit, because banks repeat reports. */
    run: async (options, author, runtime) => {
      const { reference, kind, note } = options
      if (!reference) {
        const span = spanOf(options, author)
        const perform: PerformOne = async (reference, author, once) => {
          const resolving = { reference, kind, note, span }
          const result = await resolveExceptions(resolving, author, runtime, once)
          if (result instanceof Refusal) return refused(result)
          return result === 0 ? skipped('none of the selected exceptions is open') : done
        }
        return run(options, perform, author, runtime)
      }
      const resolved = await resolveExceptions({ reference, kind, note }, author, runtime)
      return resolved instanceof Refusal ? resolved : viewAll(await listMatching(reference, kind))
    },
    // One debit needs no approval.
    check: async ({ bank }) => callObject({ bank }),
    scope,
  },
  upload: async ({ bulk: known, n, rows }, { id, at }) => {
    const references = v.safeParse(PartRows, parseJson(rows))
    if (!references.success) return invalid({ rows: ['must be a list of references'] })
    const bulk = known ?? (id as BulkId)
    await uploadReferences({ bulk, n }, references.output, at)
    return { bulk }
  },
})

export const handler = manageException(real)
