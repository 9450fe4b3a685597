import { Day } from '../../domain/settlement.ts'
import { option, options } from '../options.ts'
import type { Noun } from '../verbs.ts'

export const reconciliation = {
  name: 'reconciliation',
  summary: 'what must hold, computed anew',
  verbs: {
    run: {
      summary: 'holds a day against it, and prints what differs; changes nothing',
      options: options({ date: option('YYYY-MM-DD', 'the day', Day) }),
    },
  },
} as const satisfies Noun
