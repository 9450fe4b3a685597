/** With the numbers of erased customers. `unreadable`: no version of the sealing key opens them; their texts stay unchanged. */
export type ResealResult = { resealed: number; unreadable: number }
