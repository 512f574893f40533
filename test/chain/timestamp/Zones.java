import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.*;

/**
 * Writes src/chain/timestamp/zones.json from the JDK that runs it (17): `java Zones.java > zones.json`.
 * "names": lists of six names: standard short, daylight short, standard long, daylight long, generic short, generic long.
 * "zones": the ids of zones with the same data, and this data: the index of their names, then pairs of numbers. Each pair has an
 * epoch second, and the standard offset from that second on. The first pair starts at the zone's first daylight saving time. If
 * the zone never had one, the pair starts in the year 5138.
 */
public class Zones {
  static final long FIRST = Instant.parse("1900-01-01T00:00:00Z").getEpochSecond();
  static final long LAST = Instant.parse("2037-01-01T00:00:00Z").getEpochSecond();
  static final long NEVER = 99_999_999_999L;

  public static void main(String[] args) throws Exception {
    var names = new LinkedHashMap<List<String>, Integer>();
    var zones = new LinkedHashMap<List<Long>, StringJoiner>();
    var ids = new TreeSet<>(ZoneId.getAvailableZoneIds());
    ids.addAll(List.of("EST", "MST", "HST"));
    for (String id : ids) {
      var entry = new ArrayList<Long>();
      entry.add((long) names.computeIfAbsent(names(id), any -> names.size()));
      entry.addAll(standardOffsets(ZoneId.of(id, ZoneId.SHORT_IDS)));
      zones.computeIfAbsent(entry, any -> new StringJoiner(" ")).add(id);
    }
    var out = new java.io.PrintStream(System.out, true, "UTF-8");
    var nameLines = new StringJoiner(",\n");
    names.keySet().forEach(six -> nameLines.add("[\"" + String.join("\",\"", six) + "\"]"));
    var zoneLines = new StringJoiner(",\n");
    zones.forEach((entry, sharing) -> zoneLines.add("\"" + sharing + "\":" + entry.toString().replace(" ", "")));
    out.print("{\"names\":[\n" + nameLines + "\n],\"zones\":{\n" + zoneLines + "\n}}\n");
  }

  static List<String> names(String id) {
    var zone = TimeZone.getTimeZone(id);
    var six = new ArrayList<String>();
    for (int style : new int[] {TimeZone.SHORT, TimeZone.LONG})
      for (boolean daylight : new boolean[] {false, true}) six.add(zone.getDisplayName(daylight, style, Locale.US));
    boolean known = ZoneId.getAvailableZoneIds().contains(id);
    for (String generic : new String[] {"v", "vvvv"})
      six.add(known ? DateTimeFormatter.ofPattern(generic, Locale.US).format(Instant.EPOCH.atZone(ZoneId.of(id))) : six.get(six.size() - 4));
    return six;
  }

  static List<Long> standardOffsets(ZoneId zone) {
    var rules = zone.getRules();
    var pairs = new ArrayList<Long>();
    long previous = 0;
    for (long second = FIRST; second < LAST; second += 7200) {
      var at = Instant.ofEpochSecond(second);
      long standard = rules.getStandardOffset(at).getTotalSeconds();
      if (pairs.isEmpty() ? rules.isDaylightSavings(at) : standard != previous) {
        long earlier = second - 7200, later = second;
        while (later - earlier > 1) {
          var middle = Instant.ofEpochSecond((earlier + later) / 2);
          boolean reached = pairs.isEmpty() ? rules.isDaylightSavings(middle) : rules.getStandardOffset(middle).getTotalSeconds() == standard;
          if (reached) later = middle.getEpochSecond();
          else earlier = middle.getEpochSecond();
        }
        pairs.add(later);
        pairs.add(standard);
        previous = standard;
      }
    }
    return pairs.isEmpty() ? List.of(NEVER, (long) rules.getStandardOffset(Instant.ofEpochSecond(LAST)).getTotalSeconds()) : pairs;
  }
}
