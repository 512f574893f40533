/** @param host - a host name or an address, as in a URL or a socket. */
export const isLoopback = (host: string): boolean => /^(localhost|(::ffff:)?127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
