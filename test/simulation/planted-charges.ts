import {
  debitOf,
  type Fault,
  falsify,
  must,
  overwrite,
  readOf,
  replyOf,
  take,
  write,
} from './planted.ts'

/** Faults in charges, names and day totals. */
export const inCharges: readonly Fault[] = [
  {
    number: 1,
    what: 'a charge that was answered is gone',
    plant: (world, { next }) => take(world, debitOf(world, next)),
  },
  {
    number: 1,
    what: 'a debit gets another amount',
    plant: (world, { next }) => overwrite(world, debitOf(world, next), { amount: 1_00 }),
  },
  {
    number: 1,
    what: 'an answer names another uuid',
    plant: ({ asked }) => {
      const reply = replyOf(must(asked[0]))
      reply.body = String(reply.body).replace(/"uuid":"./, '"uuid":"z')
    },
  },
  {
    number: 1,
    what: 'a debit is deleted',
    plant: (world, { next }) => write(world, { before: debitOf(world, next), after: undefined }),
  },
  {
    number: 1,
    what: 'a debit that is not found by who charged it',
    plant: (world) => {
      replyOf(readOf(world)).status = 404
    },
  },
  {
    number: 1,
    what: 'a debit that is read with another amount',
    plant: (world) => {
      const reply = replyOf(readOf(world))
      reply.body = String(reply.body).replace('"43.00"', '"43.01"')
    },
  },
  {
    number: 2,
    what: 'a charge that was answered 4xx has written a debit',
    plant: ({ asked }) => {
      replyOf(must(asked[0])).status = 422
    },
  },
  {
    number: 2,
    what: 'a claim is left over of a charge that was refused',
    plant: ({ items }) => {
      const claim = must(items.find(({ sk }) => sk === 'PARTNER_REFERENCE'))
      items.push({ ...claim, pk: 'PROVIDER#demo#of-nothing' })
    },
  },
  {
    number: 2,
    what: 'a uuid pointer is left over of a charge that was refused',
    plant: ({ items }) => {
      const pointer = must(items.find(({ sk }) => sk === 'UUID'))
      items.push({ ...pointer, pk: 'UUID#of-nothing', reference: 'DCS-20261121-NOBODY' })
    },
  },
  {
    number: 2,
    what: 'a debit is there that nobody asked for',
    plant: (world, { next }) => {
      const { partnerReference } = debitOf(world, next)
      world.asked = world.asked.filter(({ sent }) => {
        return (sent as { partner_reference?: string }).partner_reference !== partnerReference
      })
    },
  },
  {
    number: 3,
    what: 'a repeat is answered with another debit',
    plant: ({ asked }, { settled, failed }) => {
      const reply = replyOf(must(asked[4]))
      reply.body = String(reply.body).replaceAll(settled, failed)
    },
  },
  {
    number: 3,
    what: 'a repeat is told that the bank is not supported, and the debit is there',
    plant: ({ asked }) => {
      const repeat = must(asked[4])
      repeat.at += 1
      replyOf(repeat).status = 402
    },
  },
  {
    number: 3,
    what: 'another body is answered as if it were the same',
    plant: ({ asked }) => {
      Object.assign(must(asked[5]), { reply: replyOf(must(asked[4])) })
    },
  },
  {
    number: 9,
    what: 'a reference of another shape',
    plant: (world) => {
      Object.assign(world.scene, { referencePrefix: 'XYZ' })
    },
  },
  {
    number: 9,
    what: 'two debits of one uuid',
    plant: (world, { next, failed }) =>
      falsify(world, debitOf(world, next), { uuid: debitOf(world, failed).uuid }),
  },
  {
    number: 9,
    what: 'a uuid that is no v4',
    plant: (world, { next }) => {
      const uuid = debitOf(world, next).uuid.replace('-4000-', '-1000-')
      falsify(world, debitOf(world, next), { uuid })
    },
  },
  {
    number: 10,
    what: 'two debits of one reference of a provider',
    plant: (world, { next, failed }) => {
      const { partnerReference } = debitOf(world, failed)
      falsify(world, debitOf(world, next), { partnerReference })
    },
  },
  {
    number: 10,
    what: 'a debit without a claim',
    plant: (world, { next }) => {
      const isClaim = ({ sk, reference }: { sk: string; reference?: unknown }): boolean =>
        sk === 'PARTNER_REFERENCE' && reference === next
      take(world, must(world.items.find(isClaim)))
    },
  },
  {
    number: 32,
    what: 'a debit that is shown to another provider',
    plant: (world) => {
      readOf(world).caller = { kind: 'provider', id: 'other' }
    },
  },
  {
    number: 32,
    what: 'a debit that another bank reports on',
    plant: ({ asked }) => {
      const report = must(asked.find(({ caller }) => caller?.kind === 'bank'))
      report.caller = { kind: 'bank', id: 'ECO' }
    },
  },
  {
    number: 20,
    what: 'a counter that is not the sum',
    plant: ({ items }) => {
      Object.assign(must(items.find(({ sk }) => sk === 'DAY#2026-11-21')), { amountTotal: 1 })
    },
  },
  {
    number: 20,
    what: 'a counter that was wrong for one write alone',
    plant: ({ changes }) => {
      const counted = changes.find(({ after }) => after?.sk === 'DAY#2026-11-21')
      Object.assign(must(counted?.after), { amountTotal: 1 })
    },
  },
  {
    number: 20,
    what: 'more charges than the limit allows',
    plant: ({ scene }) => {
      Object.assign(must(scene.providers[0]), { dailyLimit: 300_00 })
    },
  },
  {
    number: 21,
    what: 'a charge is refused that would have fitted',
    plant: ({ scene }) => {
      Object.assign(must(scene.providers[0]), { dailyLimit: 750_00 })
    },
  },
]
