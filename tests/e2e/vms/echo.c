/* A server for a guest, which has none for datagrams: sends back what comes to the port that is its argument. */
#include <arpa/inet.h>
#include <stdlib.h>

int main(int count, char **words)
{
	int here = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in address = { .sin_family = AF_INET };
	char data[1500];

	if (count != 2)
		return 2;
	address.sin_port = htons(atoi(words[1]));
	if (bind(here, (struct sockaddr *)&address, sizeof address))
		return 1;
	for (;;) {
		socklen_t length = sizeof address;
		ssize_t got = recvfrom(here, data, sizeof data, 0, (struct sockaddr *)&address, &length);
		if (got < 0)
			return 1;
		sendto(here, data, got, 0, (struct sockaddr *)&address, length);
	}
}
