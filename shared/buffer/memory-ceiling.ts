/** Above this fraction of its memory the kv gets no more points, so that it never has to refuse a flush. */
export const MEMORY_CEILING = 0.9
