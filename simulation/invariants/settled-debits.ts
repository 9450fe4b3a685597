import type { Scene } from '../engine/observations.ts'
import type { Books, DebitBook, LineBook } from './debit-histories.ts'
import type { Check, Complain } from './invariant.ts'
import type { Entry, RawBatch, RawDebit } from './raw-items.ts'
import { membersOf } from './reply.ts'
import { DAY_MS, dayOf, HOUR_MS, midnightAfter, startOf } from './time-and-money.ts'

/** 22, 23, 27, 28: which debits have a line, in which batch, and when. */

/** The runs of a night begin at 00:00, 00:20 and 01:00. */
const RUNS_MS = 2 * HOUR_MS

/** The last midnight whose runs all went well; 0 for none. */
const lastNight = ({ healthy, startedAt, healedAt, endedAt }: Scene): number => {
  const midnight = Math.floor((endedAt - RUNS_MS) / DAY_MS) * DAY_MS
  return midnight >= (healthy ? startedAt : healedAt) ? midnight : 0
}

const timeOf = ({ entries }: DebitBook, type: string): number | undefined =>
  entries.find((entry: Entry) => entry.type === type)?.at

const linesOf = ({ lines }: DebitBook, type: string): LineBook[] =>
  lines.filter(({ item }) => item.type === type)

/** 22: what is completed has one line in one batch of its own, once a night went well. */
export const isSettledOnce: Check = (books, complain) => {
  const night = lastNight(books.witnessed.scene)
  for (const [reference, book] of books.debits) {
    const { item } = book
    const lines = linesOf(book, 'debit')
    const [line] = lines
    if (lines.length > 1) complain(reference, `has ${lines.length} lines`)
    if (line?.batch !== item.settledIn) {
      complain(reference, `says ${item.settledIn}, and its line is in ${line?.batch}`)
    }
    for (const { batch } of book.lines) {
      const header = books.batches.get(batch)?.item
      const isOwn = header?.provider === item.provider && header.currency === 'GHS'
      if (!isOwn) complain(reference, `has a line in ${batch} of ${header?.provider}`)
    }
    const completedAt = timeOf(book, 'completed') ?? Number.POSITIVE_INFINITY
    if (!line && item.status === 'completed' && completedAt < night) {
      complain(reference, `was completed on ${dayOf(completedAt)}, and has no line`)
    }
  }
  for (const { item, batch } of books.lines) {
    if (!books.debits.has(item.reference)) complain(item.reference, `has a line in ${batch} alone`)
  }
}

/** The debits that each transaction has written, as they were after it. */
const marksIn = ({ debits }: Books): Map<string, RawDebit> => {
  const marks = new Map<string, RawDebit>()
  for (const [reference, { changes }] of debits) {
    for (const { after, transaction } of changes) {
      if (after) marks.set(`${transaction} ${reference}`, after)
    }
  }
  return marks
}

/** 23: a line is written with the mark of a debit that is completed; one back, of a reversed one. */
export const isOfCompleted: Check = (books, complain) => {
  const marks = marksIn(books)
  for (const { before, after, transaction } of books.lineChanges) {
    if (before || !after) continue
    const { reference, type, pk } = after
    const debit = marks.get(`${transaction} ${reference}`)
    const batch = pk.slice('BATCH#'.length)
    const isMarked =
      type === 'debit'
        ? debit?.status === 'completed' && debit.settledIn === batch
        : debit?.status === 'reversed' && debit.adjustedIn === batch
    if (!isMarked) complain(reference, `got a line in ${batch} as it was ${debit?.status}`)
  }
  for (const [reference, book] of books.debits) {
    const wasCompleted = timeOf(book, 'completed') !== undefined
    if (book.lines.length > 0 && !wasCompleted) complain(reference, 'has a line, never completed')
  }
}

const place = ({ date, n }: RawBatch): number => startOf(date) + n

/** A sum of nothing has no sign. */
const isOpposite = (one: LineBook, other: LineBook): boolean =>
  one.item.gross + other.item.gross === 0 &&
  one.item.fee + other.item.fee === 0 &&
  one.item.net + other.item.net === 0

/** 27: what was reversed after its settlement is taken back once, in a later batch. */
export const isTakenBackOnce: Check = (books, complain) => {
  const night = lastNight(books.witnessed.scene)
  for (const [reference, book] of books.debits) {
    const { item } = book
    const [line] = linesOf(book, 'debit')
    const adjustments = linesOf(book, 'adjustment')
    const [back] = adjustments
    if (adjustments.length > 1) complain(reference, `is taken back ${adjustments.length} times`)
    if (back?.batch !== item.adjustedIn) {
      complain(reference, `says ${item.adjustedIn}, and is taken back in ${back?.batch}`)
    }
    const given = line && books.batches.get(line.batch)?.item
    if (back) judgeBack(book, { line, back, given, books }, complain)
    else if (given && item.status === 'reversed') {
      const isOverdue = (timeOf(book, 'reversed') ?? night) < night && startOf(given.date) < night
      if (isOverdue) complain(reference, 'was reversed after its settlement, and is not taken back')
    }
  }
}

type Back = {
  line: LineBook | undefined
  back: LineBook
  given: RawBatch | undefined
  books: Books
}

const judgeBack = (
  { item }: DebitBook,
  { line, back, given, books }: Back,
  complain: Complain,
): void => {
  const later = books.batches.get(back.batch)?.item
  if (item.status !== 'reversed') complain(item.reference, `is ${item.status}, and taken back`)
  if (!line || !given || !later) {
    complain(item.reference, 'is taken back, and was not given')
    return
  }
  if (place(later) <= place(given)) complain(item.reference, `is taken back before ${given.id}`)
  if (!isOpposite(line, back)) complain(item.reference, 'is taken back with other sums')
}

/** Days that an operator had settled out of turn. */
const daysAsked = ({ witnessed }: Books): Set<unknown> =>
  new Set(
    witnessed.asked.flatMap(({ name, sent }) => {
      if (name !== 'manage-settlement') return []
      return [membersOf(membersOf(sent).options).date]
    }),
  )

/** 28: a line is of an earlier day than its batch, and of the first night that saw its debit. */
export const isSettledInTime: Check = (books, complain) => {
  const { scene } = books.witnessed
  const asked = daysAsked(books)
  for (const [reference, book] of books.debits) {
    const [line] = linesOf(book, 'debit')
    const completedAt = timeOf(book, 'completed')
    const date = line && books.batches.get(line.batch)?.item.date
    if (!date || completedAt === undefined) continue
    if (Date.parse(line.item.completedAt) !== completedAt) {
      complain(reference, `has a line of ${line.item.completedAt}`)
    }
    if (completedAt >= startOf(date)) complain(reference, `is settled on its own day, ${date}`)
    const first = midnightAfter(completedAt)
    const latest = scene.healthy
      ? first
      : Math.max(first, midnightAfter(scene.healedAt - 1)) + DAY_MS
    if (startOf(date) > latest && !asked.has(date)) complain(reference, `waited until ${date}`)
  }
  for (const [id, { item }] of books.batches) {
    const isEarly = Date.parse(item.createdAt) + 2 * scene.skew < startOf(item.date)
    if (isEarly && !asked.has(item.date)) complain(id, `was opened before ${item.date}`)
  }
}
