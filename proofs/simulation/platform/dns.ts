import { current } from '../engine/current.ts'

export const lookup = (host: string): Promise<{ address: string }[]> =>
  current().network.lookup(host)
