import { open, type Socket } from './net.ts'

export const connect = (options: Parameters<typeof open>[0]): Socket => open(options, true)
