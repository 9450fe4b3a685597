import { NOISE, type Row, type Rows } from './row.ts'

/** Our charge, beside one that is built the usual way. */

const USUAL = 'the usual way'
const NO_WORSE = { ratioAtMost: 1 }

const figures: Record<string, Omit<Row, 'part'>> = {
  'peer p50': { what: 'charge, p50', unit: 'ms', target: NO_WORSE },
  'peer p99': { what: 'charge, p99', unit: 'ms', target: NO_WORSE, explained: NOISE },
  'peer throughput': { what: 'charge, 8 at once', unit: '1/s', target: { ratioAtLeast: 1 } },
  'peer cpu': { what: 'charge, processor time', unit: 'µs', target: NO_WORSE },
  'peer own time': {
    what: 'charge, `send` of the clients answered at once',
    unit: 'µs',
    target: NO_WORSE,
    explained:
      'Ours also judges the text of the body (keys given twice, numbers that would change), fingerprints the request and keeps a history.',
  },
  'peer trips': { what: 'charge, round trips', unit: 'times', target: NO_WORSE },
  'peer written': { what: 'charge, write units', unit: 'units', target: NO_WORSE },
  'peer size': { what: 'charge, bundle', unit: 'kB', target: NO_WORSE },
  'peer cold': { what: 'charge, import and first call', unit: 'ms', target: NO_WORSE },
}

export const peer: Rows = Object.fromEntries(
  Object.entries(figures).map(([name, row]) => [name, { ...row, part: 'peer', base: USUAL }]),
)
