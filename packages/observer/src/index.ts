/** Folder of the built page, to be served by a gateway. */
export const pageDirectory = new URL('./page/', import.meta.url)
