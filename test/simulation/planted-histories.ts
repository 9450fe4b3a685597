import type { Asked, Change } from '../../simulation/engine/observations.ts'
import type { RawDebit } from '../../simulation/invariants/raw-items.ts'
import {
  changesOf,
  debitOf,
  type Fault,
  falsify,
  must,
  overwrite,
  readOf,
  replyOf,
  type Tampered,
} from './planted.ts'

const MINUTE_MS = 60_000

/** The write that brought a debit to a status. */
const moveTo = (world: Tampered, reference: string, status: string): Change & { after: RawDebit } =>
  must(
    changesOf(world, debitOf(world, reference)).find(
      ({ before, after }) => after?.status === status && before?.status !== status,
    ),
  ) as Change & { after: RawDebit }

/** Changes the entry of a status as if it had been so from the first. */
const falsifyEntry = (world: Tampered, reference: string, type: string, members: object): void => {
  const debit = debitOf(world, reference)
  const images = changesOf(world, debit).flatMap(({ before, after }) => [before, after])
  for (const image of [debit, ...images]) {
    const entries = (image as RawDebit | undefined)?.history ?? []
    for (const entry of entries) if (entry.type === type) Object.assign(entry, members)
  }
}

/** One more entry, in a write of its own. */
const moveOn = (world: Tampered, reference: string, type: string): void => {
  const debit = debitOf(world, reference)
  const { history, version, provider } = debit
  const at = must(world.changes.at(-1)).at
  const entry = { type, at, by: 'bank:GCB', rid: 'request', set: {} }
  const byStatus = `${provider}#${type}`
  const moved = { history: [...history, entry], version: version + 1, status: type, byStatus }
  overwrite(world, debit, moved)
}

const reportsOf = ({ asked }: Tampered, status: string): Asked[] =>
  asked.filter(({ sent }) => (sent as { status?: string }).status === status)

/** Faults in the paths of debits, and in what their banks were told. */
export const inHistories: readonly Fault[] = [
  {
    number: 4,
    what: 'a debit that is pending in the end',
    plant: (world, { next }) => {
      const { history } = debitOf(world, next)
      falsify(world, debitOf(world, next), { status: 'pending', history: history.slice(0, 2) })
    },
  },
  {
    number: 4,
    what: 'a debit that ran out a minute after its clock and a second',
    plant: (world, { expired }) => {
      const { history } = debitOf(world, expired)
      const at = must(history[0]?.at) + 11 * MINUTE_MS + 1000
      falsifyEntry(world, expired, 'failed', { at })
    },
  },
  {
    number: 5,
    what: 'completed after it had failed',
    plant: (world, { failed }) => moveOn(world, failed, 'completed'),
  },
  {
    number: 5,
    what: 'a status that its history does not have',
    plant: (world, { settled }) => {
      debitOf(world, settled).status = 'reversed'
    },
  },
  {
    number: 6,
    what: 'failed after it was completed',
    plant: (world, { settled }) => moveOn(world, settled, 'failed'),
  },
  {
    number: 6,
    what: 'a write that does not count itself',
    plant: (world, { settled }) => {
      const move = moveTo(world, settled, 'completed')
      move.after.version -= 1
    },
  },
  {
    number: 6,
    what: 'a loser that is told that it has won',
    plant: (world) => {
      replyOf(must(reportsOf(world, 'completed')[3])).status = 200
    },
  },
  {
    number: 6,
    what: 'a winner that is told that it has lost',
    plant: (world) => {
      Object.assign(replyOf(must(reportsOf(world, 'completed')[0])), {
        status: 422,
        body: { error: { code: 3001 } },
      })
    },
  },
  {
    number: 7,
    what: 'the same status again is refused',
    plant: (world) => {
      const repeat = must(reportsOf(world, 'completed')[2])
      repeat.at += 1
      Object.assign(replyOf(repeat), { status: 422, body: { error: { code: 3001 } } })
    },
  },
  {
    number: 7,
    what: 'the same status again writes another fee',
    plant: (world, { settled }) => {
      const repeat = must(reportsOf(world, 'completed')[2])
      repeat.at += 1
      const { uuid } = debitOf(world, settled)
      expectUuid(repeat, uuid)
      overwrite(world, debitOf(world, settled), { version: 99 }, 'update-debit-transaction')
      Object.assign(must(world.changes.at(-1)), {
        by: { name: 'update-debit-transaction', invocation: repeat.invocation },
      })
    },
  },
  {
    number: 7,
    what: 'a debit is marked as settled once more',
    plant: (world, { settled }) =>
      overwrite(world, debitOf(world, settled), { settledIn: 'STL-20261125-ANOTHR' }),
  },
  {
    number: 8,
    what: 'a completed debit with a message',
    plant: (world, { settled }) =>
      falsifyEntry(world, settled, 'completed', { set: { errorMessage: 'What?' } }),
  },
  {
    number: 8,
    what: 'a timeout in other words',
    plant: (world, { expired }) =>
      falsifyEntry(world, expired, 'failed', {
        set: { errorMessage: 'Timeout', errorCode: 'timeout' },
      }),
  },
  {
    number: 8,
    what: 'a clock that ran out early',
    plant: (world, { expired }) => {
      const { history } = debitOf(world, expired)
      falsifyEntry(world, expired, 'failed', { at: must(history[0]?.at) + 4 * MINUTE_MS })
    },
  },
  {
    number: 8,
    what: 'a debit that is read as completed before it was',
    plant: (world) => {
      const reply = replyOf(readOf(world))
      const early = '"completed_at":"2026-11-21T12:00:00.000Z"'
      reply.body = String(reply.body).replaceAll('"completed_at":null', early)
    },
  },
  {
    number: 12,
    what: 'a move that leaves no entry',
    plant: (world, { settled }) => {
      overwrite(world, debitOf(world, settled), { status: 'reversed', version: 99 })
    },
  },
  {
    number: 12,
    what: 'a history that is rewritten',
    plant: (world, { settled }) => {
      const debit = debitOf(world, settled)
      const [first, ...others] = debit.history
      overwrite(world, debit, {
        history: [{ ...must(first), by: 'operator:local:ama' }, ...others],
      })
    },
  },
  {
    number: 12,
    what: 'a debit that was opened without its event created',
    plant: (world, { settled }) => {
      const { after } = must(changesOf(world, debitOf(world, settled))[0])
      const opened = after as RawDebit
      opened.history = opened.history.slice(1)
    },
  },
  {
    number: 38,
    what: 'a timeout of a bank that was not asked',
    plant: ({ scene }) => {
      scene.endpoints = ['GCB']
    },
  },
  {
    number: 38,
    what: 'a timeout of a bank that named the outcome',
    plant: (world, { expired }) => {
      const { uuid, history } = debitOf(world, expired)
      const at = must(history.find(({ type }) => type === 'failed')?.at) - 1
      world.scene.endpoints = ['GCB']
      world.questions = [{ at, bank: 'GCB', uuid, answer: 'completed' }]
    },
  },
  {
    number: 39,
    what: 'a reversed debit without a refund',
    plant: (world, { reversed }) => {
      world.items = world.items.filter(
        ({ entity, reference }) => entity !== 'refund' || reference !== reversed,
      )
    },
  },
  {
    number: 39,
    what: 'a refund that its bank never made',
    plant: ({ scene }) => {
      scene.endpoints = ['GCB']
    },
  },
  {
    number: 33,
    what: 'a move by nobody',
    plant: (world, { settled }) => falsifyEntry(world, settled, 'completed', { by: '' }),
  },
  {
    number: 33,
    what: 'a move by another bank',
    plant: (world, { settled }) => falsifyEntry(world, settled, 'completed', { by: 'bank:ECO' }),
  },
  {
    number: 33,
    what: 'a move on another request than the one that was answered',
    plant: (world, { settled }) => falsifyEntry(world, settled, 'completed', { rid: 'another' }),
  },
  {
    number: 33,
    what: 'a move that says it was an hour ago',
    plant: (world, { settled }) => {
      const { at } = moveTo(world, settled, 'completed')
      falsifyEntry(world, settled, 'completed', { at: at - 60 * MINUTE_MS })
    },
  },
  {
    number: 31,
    what: 'a late completion without a record',
    plant: (world) => {
      world.items = world.items.filter(({ entity }) => entity !== 'exception')
    },
  },
  {
    number: 31,
    what: 'a record of a report that no bank sent',
    plant: (world) => {
      const late = must(world.items.find(({ entity }) => entity === 'exception'))
      world.items.push({ ...late, sk: 'EXCEPTION#another', requestId: 'another' })
    },
  },
]

const expectUuid = ({ path }: Asked, uuid: string): void => {
  if (path.uuid !== uuid) throw new Error('This is a report of another debit')
}
