import type { RawBatch } from '../../simulation/invariants/raw-items.ts'
import {
  batchOf,
  changesOf,
  debitOf,
  type Fault,
  falsify,
  lineOf,
  must,
  overwrite,
  postsOf,
  take,
  write,
} from './planted.ts'

const [FIRST, SECOND] = ['2026-11-22', '2026-11-23'] as const

/** Faults in settlement, and in the spelling of amounts. */
export const inSettlement: readonly Fault[] = [
  {
    number: 22,
    what: 'a completed debit without a line',
    plant: (world, { settled }) => {
      take(world, lineOf(world, settled))
      falsify(world, debitOf(world, settled), { settledIn: undefined })
    },
  },
  {
    number: 22,
    what: 'two lines of one debit',
    plant: ({ items, ...world }, { settled }) => {
      const line = lineOf({ items, ...world }, settled)
      items.push({ ...line, pk: `BATCH#${batchOf({ items, ...world }, SECOND).id}` })
    },
  },
  {
    number: 22,
    what: 'a line in a batch of another provider',
    plant: (world) => falsify(world, batchOf(world, FIRST), { provider: 'other' }),
  },
  {
    number: 23,
    what: 'a line of a debit that has failed',
    plant: (world, { settled, failed }) => {
      const line = lineOf(world, settled)
      const sk = `DEBIT#${failed}`
      const wrong = { ...line, sk, reference: failed }
      world.items.push(wrong)
      write(world, { before: undefined, after: wrong }, 'build-batch')
    },
  },
  {
    number: 23,
    what: 'a line that was written without the mark of its debit',
    plant: (world, { settled }) => {
      const written = must(changesOf(world, lineOf(world, settled))[0])
      written.transaction += 10_000
    },
  },
  {
    number: 24,
    what: 'a batch that is not the sum of its lines',
    plant: (world) => {
      must(batchOf(world, FIRST).totals).net += 1
    },
  },
  {
    number: 24,
    what: 'a batch that counts a line too many',
    plant: (world) => {
      must(batchOf(world, FIRST).totals).count += 1
    },
  },
  {
    number: 25,
    what: 'money that is in no line',
    plant: (world, { settled }) => {
      world.items = world.items.filter((item) => item !== lineOf(world, settled))
    },
  },
  {
    number: 25,
    what: 'a payment that is not what the batch is worth',
    plant: (world) => falsify(world, batchOf(world, FIRST), { paid: 1_00 }),
  },
  {
    number: 25,
    what: 'a batch that no bank paid',
    plant: (world) => {
      world.handOvers = world.handOvers.filter(({ path }) => path !== '/settlements')
    },
  },
  {
    number: 25,
    what: 'a batch below zero that lacks nothing',
    plant: (world) => falsify(world, batchOf(world, SECOND), { outstanding: 0 }),
  },
  {
    number: 26,
    what: 'a sealed batch whose sums change',
    plant: (world) => {
      const batch = batchOf(world, SECOND)
      const totals = { ...must(batch.totals), net: 0 }
      overwrite(world, batch, { totals })
    },
  },
  {
    number: 26,
    what: 'a line that comes after the seal',
    plant: (world, { settled }) => {
      const line = lineOf(world, settled)
      const late = { ...line, sk: 'DEBIT#DCS-20261121-NOBODY' }
      write(world, { before: undefined, after: late }, 'build-batch')
    },
  },
  {
    number: 26,
    what: 'a completed batch that is processed again',
    plant: (world) => {
      const at = world.scene.endedAt
      const sent = { verb: 'process', options: { batch: batchOf(world, FIRST).id } }
      const reply = { at, status: 200, headers: {}, body: { result: {} } }
      const asked = { at, name: 'manage-settlement', caller: undefined, path: {}, sent }
      world.asked.push({ ...asked, reply, heard: true, invocation: 0 })
    },
  },
  {
    number: 26,
    what: 'an instruction that is given under two keys',
    plant: ({ handOvers }) => {
      const paid = must(handOvers.find(({ path }) => path === '/settlements'))
      handOvers.push({ ...paid, idempotencyKey: 'another' })
    },
  },
  {
    number: 26,
    what: 'a bank that is told before it is written down',
    plant: ({ handOvers }) => {
      must(handOvers.find(({ path }) => path === '/settlements')).at -= 1
    },
  },
  {
    number: 27,
    what: 'a reversal that is not taken back',
    plant: (world, { reversed }) => {
      take(world, lineOf(world, reversed, 'adjustment'))
      falsify(world, debitOf(world, reversed), { adjustedIn: undefined })
    },
  },
  {
    number: 27,
    what: 'a reversal that is taken back with another fee',
    plant: (world, { reversed }) => {
      lineOf(world, reversed, 'adjustment').fee += 1
    },
  },
  {
    number: 27,
    what: 'a reversal that is taken back in the same batch',
    plant: (world, { reversed }) => {
      const { id } = batchOf(world, FIRST)
      lineOf(world, reversed, 'adjustment').pk = `BATCH#${id}`
      falsify(world, debitOf(world, reversed), { adjustedIn: id })
    },
  },
  {
    number: 28,
    what: 'a debit that is settled on its own day',
    plant: (world) => falsify(world, batchOf(world, FIRST), { date: '2026-11-21' }),
  },
  {
    number: 28,
    what: 'a debit that waited for another night',
    plant: (world) => falsify(world, batchOf(world, FIRST), { date: '2026-11-24' }),
  },
  {
    number: 29,
    what: 'a fee that is rounded otherwise',
    plant: (world, { settled }) => {
      const line = lineOf(world, settled)
      Object.assign(line, { fee: line.fee + 1, net: line.net - 1 })
    },
  },
  {
    number: 29,
    what: "a fee by the schedule where the bank's own goes before",
    plant: (world, { reversed }) => {
      const line = lineOf(world, reversed)
      Object.assign(line, { fee: 160, net: line.gross - 160 })
    },
  },
  {
    number: 30,
    what: 'half a pesewa',
    plant: (world) => {
      const { offsets: _, ...batch } = batchOf(world, FIRST) as RawBatch
      world.items.push({ ...batch, sk: 'ANOTHER', paid: 0.5, offsets: [] })
    },
  },
  {
    number: 30,
    what: 'an amount that is told with one decimal',
    plant: (world, { settled }) => {
      const post = must(postsOf(world, settled, 0)[0])
      post.raw = post.raw.replace('"amount":43.00', '"amount":43.0')
    },
  },
  {
    number: 30,
    what: 'a fee that is answered as a bare number',
    plant: ({ asked }) => {
      for (const { reply } of asked) {
        if (reply?.raw) reply.raw = reply.raw.replace('"fee":"0.75"', '"fee":0.750')
      }
    },
  },
]
